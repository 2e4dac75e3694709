import { testDatabase } from "@atlasqueue/testing";
import { expect, onTestFinished, test } from "vitest";
import { changedPlans, readPlans } from "./plans.ts";

test("a hot statement that is run otherwise than before is named", async () => {
  const { database, drop } = await testDatabase();
  onTestFinished(drop);
  const before = await readPlans(database.sql);
  expect(changedPlans(before, await readPlans(database.sql))).toEqual([]);
  await database.sql`ALTER TABLE jobs DROP CONSTRAINT jobs_pkey CASCADE`;
  expect(changedPlans(before, await readPlans(database.sql))).not.toEqual([]);
});
