import { connectDatabase } from "../database/connect.ts";
import { recordEvents, submission, testDatabase, type TestDatabase } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enqueue } from "../submit/enqueue.ts";
import { createOutlook } from "./outlook.ts";

let own: TestDatabase;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

test("a part not answered in time leaves the others answered", async () => {
  const deps = { database: own.database, observe: recordEvents().observe };
  await enqueue(deps, [submission({})], { idempotency_ttl_seconds: 60 });
  const outlook = createOutlook(deps);
  expect(Object.keys(await outlook.look())).toHaveLength(9);
  await own.database.sql.begin(async (lock) => {
    await lock`LOCK TABLE atlasqueue.claims, atlasqueue.job_groups IN ACCESS EXCLUSIVE MODE`;
    const found = await outlook.look();
    expect(found).toMatchObject({ any_queued: true, any_changes: true, due_in_ms: null, newest_dead: null });
    expect(found).not.toHaveProperty("lease_check_in_ms");
    expect(found).not.toHaveProperty("any_overdue_groups");
  });
  expect(await outlook.look()).toMatchObject({ any_queued: true, any_overdue_groups: false });
});

test("when the database is away no part is answered, and that is an error", async () => {
  const database = connectDatabase({
    url: "postgres://nobody@127.0.0.1:1/none",
    connectionsMax: 1,
    timeoutMs: 300,
  });
  await expect(createOutlook({ database }).look()).rejects.toThrow();
  await database.close();
});
