import { simulateClock, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { connectDatabase } from "../database/connect.ts";
import { rowsRead } from "../../test/rows-read.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { queueScaling } from "./stats.ts";

test("an autoscaler may ask every few seconds: however many jobs wait, a handful of them is read", async () => {
  const own = await testDatabase();
  onTestFinished(() => own.drop());
  const jobs = 20_000;
  await own.database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, queue, priority, run_at, ready_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'queued', 'mails', n % 3, now(), now() - n * interval '1 second', now(), now(), '{}'
    FROM generate_series(1, ${jobs}::int) AS n`;
  await own.database
    .sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, queued) VALUES ('default', 'mails', ${jobs})`;
  await own.database.sql`VACUUM ANALYZE atlasqueue.jobs`;
  const signal = memorySignal();
  let found: Awaited<ReturnType<typeof queueScaling>> | undefined;
  const read = await rowsRead(
    own.database,
    async (deps) => void (found = await queueScaling({ ...deps, signal }, { tenant: "default", queue: "mails" })),
    "jobs",
  );
  expect(found).toMatchObject({ ready: jobs, backlog: jobs });
  expect(found?.oldest_ready_seconds).toBeGreaterThanOrEqual(jobs);
  expect(read).toBeLessThanOrEqual(10);
});

test("how long a job has been ready is told by the database's clock, whatever this machine's says", async () => {
  const own = await testDatabase();
  const clock = await simulateClock(own.url, "2025-01-01T00:01:00Z");
  const database = connectDatabase({ url: own.url, connectionsMax: 1, timeoutMs: 15_000 });
  onTestFinished(async () => {
    await Promise.all([database.close(), clock.stop()]);
    await own.drop();
  });
  await database.sql`
    INSERT INTO atlasqueue.jobs (id, type, status, queue, run_at, ready_at, created_at, updated_at, payload)
    SELECT gen_random_uuid(), 'a', 'queued', 'mails', at, at, at, at, '{}' FROM (SELECT now() - interval '42 seconds' AS at)`;
  await database.sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, queued) VALUES ('default', 'mails', 1)`;
  const found = await queueScaling({ database, signal: memorySignal() }, { tenant: "default", queue: "mails" });
  expect(found.oldest_ready_seconds).toBe(42);
});
