import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { readPlans } from "./plans.ts";

test("a hot statement that is run otherwise than before has another plan", async () => {
  const { database, url, drop } = await testDatabase();
  onTestFinished(drop);
  const before = await readPlans(url);
  expect(await readPlans(url)).toEqual(before);
  await database.sql`ALTER TABLE atlasqueue.jobs DROP CONSTRAINT jobs_pkey CASCADE`;
  expect(await readPlans(url)).not.toEqual(before);
});
