import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { pagesRead } from "../../../test/rows-read.ts";
import { claimReady } from "../claim.ts";

test("a claim reads a handful of pages, however many jobs wait behind the one it takes, and however long the history", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const { sql } = own.database;
  await sql`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, payload)
    SELECT gen_random_uuid(), 'a', 'succeeded', now(), now(), now(), now(), '{}' FROM generate_series(1, 20000)`;
  await sql`
    INSERT INTO atlasqueue.jobs (id, type, status, group_key, group_seq, run_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'blocked', 'big', n, now(), now(), now(), '{}' FROM generate_series(1, 20000) AS n`;
  await sql`
    INSERT INTO atlasqueue.jobs (id, type, status, group_key, run_at, ready_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'queued', 'big', now(), now(), now(), now(), '{}' FROM generate_series(1, 2)`;
  await sql`VACUUM ANALYZE atlasqueue.jobs`;
  const claimer = { tenant: "default", queues: ["default"], worker_id: "w", lease_seconds: 30 };
  const pages = await pagesRead(own.database, async (deps) => {
    await claimReady({ ...deps, observe() {} }, 1, claimer);
    // The same token again, for the other job.
    await sql`DELETE FROM atlasqueue.claims`;
  });
  expect(pages).toBeLessThan(200);
});
