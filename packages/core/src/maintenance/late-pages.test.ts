import { firstId } from "../ids.ts";
import { forFile, recordEvents, testDatabase } from "@atlasqueue/harness";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { neverEndsAfter } from "../../test/never-ending.ts";
import { connectDatabase } from "../database/connect.ts";
import type { Deps } from "../deps.ts";
import { clearResults } from "./clear-results.ts";
import { prune } from "./prune.ts";

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const jobs = 12;
const fits = 6;
const own = forFile(testDatabase);
const impatient = forFile(async () => connectDatabase({ url: own.url, connectionsMax: 5, timeoutMs: 1_500 }));
let deps: Deps;

beforeAll(async () => {
  deps = { database: impatient, observe: recordEvents().observe };
  await own.database.sql.unsafe(neverEndsAfter(fits, "UPDATE OR DELETE ON atlasqueue.jobs"));
});

beforeEach(async () => {
  await own.database.sql`TRUNCATE atlasqueue.jobs, atlasqueue.queue_counts, atlasqueue.queue_changes`;
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload, result)
    SELECT ('0198aaaa-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'noop', 'succeeded', now(), now(), now(),
           now() - interval '10 days', '{}', '"r"'
    FROM generate_series(1, ${jobs}::int) AS n`;
});

test("a page of jobs too large for one statement is removed in parts, as it waits for the late one", async () => {
  let removed = 0;
  for (let after: string | undefined = firstId; after !== undefined;) {
    const step = await prune(deps, { succeededHours: 1, deadHours: 1 }, after, jobs);
    expect(step).not.toHaveProperty("failed");
    removed += step.jobs;
    after = step.next;
  }
  expect(removed).toBe(jobs);
  expect((await own.database.sql`SELECT FROM atlasqueue.jobs`).length).toBe(0);
});

test("a page of results too large for one statement is cleared in parts, and none is passed over", async () => {
  let cleared = 0;
  let after: string = firstId;
  for (let more = true; more;) {
    const step = await clearResults(deps, 60, after, lastId, jobs);
    cleared += step.jobs;
    after = step.last ?? after;
    more = step.more;
  }
  expect(cleared).toBe(jobs);
  expect((await own.database.sql`SELECT FROM atlasqueue.jobs WHERE result::text <> 'null'`).length).toBe(0);
});
