import { recordEvents, submission, testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { openDatabase } from "../../test/opened.ts";
import { enqueue } from "../submit/enqueue.ts";
import { dueSummaryInTime } from "./due-summary.ts";

const own = forFile(testDatabase);

test("a sweep knows nothing of what is not answered in time", async () => {
  const deps = { database: own.database, observe: recordEvents().observe };
  await enqueue(deps, [submission({})], { idempotency_ttl_seconds: 60 });
  const known = { any_queued: true, any_changes: true, due_in_ms: null, newest_dead: null, any_overdue_groups: false };
  expect(await dueSummaryInTime(deps)).toMatchObject(known);
  await own.database.sql.begin(async (lock) => {
    await lock`LOCK TABLE atlasqueue.claims IN ACCESS EXCLUSIVE MODE`;
    expect(await dueSummaryInTime(deps)).toEqual({});
  });
  expect(await dueSummaryInTime(deps)).toMatchObject(known);
});

test("when the database is away, that is an error", async () => {
  const database = openDatabase({ url: "postgres://nobody@127.0.0.1:1/none", connectionsMax: 1, timeoutMs: 300 });
  await expect(dueSummaryInTime({ database })).rejects.toThrow();
});
