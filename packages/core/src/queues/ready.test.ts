import { testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { pagesRead } from "../../test/rows-read.ts";
import { readyJobs } from "./ready.ts";

const queue = { tenant: "default", queue: "default" };

test("beside an old snapshot a look reads no more than what has become ready within its reach", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const { sql } = own.database;
  await sql`
    INSERT INTO atlasqueue.jobs (id, type, status, priority, run_at, ready_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'queued', n % 5 - 2, now(), now() - n * interval '1 second', now(), now(), '{}'
    FROM generate_series(60, 20059) AS n`;
  const [next] = await sql<{ id: string }[]>`
    INSERT INTO atlasqueue.jobs (id, type, status, run_at, ready_at, created_at, updated_at, payload)
    VALUES (gen_random_uuid(), 'a', 'queued', now(), now(), now(), now(), '{}') RETURNING id`;
  await sql`VACUUM ANALYZE atlasqueue.jobs`;
  const looks = [
    (reach_ms?: number) => pagesRead(own.database, (deps) => readyJobs(deps, queue, { jobs_max: 1_000, reach_ms })),
    (reach_ms?: number) =>
      pagesRead(own.database, (deps) => readyJobs(deps, queue, { next_id: next?.id ?? "", jobs_max: 1_000, reach_ms })),
    (reach_ms?: number) =>
      pagesRead(own.database, (deps) => readyJobs(deps, queue, { next_id: "wake", jobs_max: 1_000, reach_ms })),
  ];
  await besideSnapshot(own.database, async () => {
    await sql`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL, finished_at = now() WHERE id <> ${next?.id ?? ""}`;
    for (const look of looks) {
      const whole = await look();
      expect(whole).toBeGreaterThan(500);
      expect(await look(30_000)).toBeLessThan(whole / 20);
    }
  });
});

/** While another transaction sees what was there when it began. */
async function besideSnapshot(
  { sql }: Awaited<ReturnType<typeof testDatabase>>["database"],
  work: () => Promise<void>,
) {
  await sql.begin("ISOLATION LEVEL REPEATABLE READ", async (tx) => {
    await tx`SELECT count(*) FROM atlasqueue.queues`;
    await work();
  });
}
