import { eventually, steppingDatabase, submission } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { engineHarness } from "../../test/engine-harness.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { enqueue } from "../submit/enqueue.ts";
import { pauseQueue } from "../queues/pause.ts";
import { addFleetGauges, addServerGauges } from "./gauges.ts";
import { createMetrics } from "./metrics.ts";

const { deps } = engineHarness();

const shown = async ({ registry }: ReturnType<typeof createMetrics>, name: string) =>
  Object.fromEntries(
    (await registry.metrics())
      .split("\n")
      .filter((line) => line.startsWith(`atlasqueue_${name}`))
      .map((line) => line.split(" ")),
  );
const add = async (queue: string, seconds_ago: number, priority = 0) => {
  await enqueue(deps, [submission({ queue, priority })], { idempotency_ttl_seconds: 60 });
  await deps.database.sql`
    UPDATE atlasqueue.jobs SET ready_at = now() - ${seconds_ago} * interval '1 second'
    WHERE queue = ${queue} AND priority = ${priority}`;
};

test("jobs by status and the longest wait of a ready one, whatever its priority; paused queues do not count", async () => {
  await add("a", 10, 5);
  await add("a", 400, -3);
  await add("b", 100);
  await add("paused", 9_000);
  await pauseQueue(deps, { tenant: "default", queue: "paused" });
  const metrics = createMetrics();
  addFleetGauges(metrics.registry, deps);
  expect(await shown(metrics, "jobs{")).toMatchObject({
    'atlasqueue_jobs{status="queued"}': "4",
    'atlasqueue_jobs{status="dead"}': "0",
  });
  const seconds = Number((await shown(metrics, "oldest_ready"))["atlasqueue_oldest_ready_job_seconds"]);
  expect(seconds).toBeGreaterThanOrEqual(400);
  expect(seconds).toBeLessThan(900);
});

test("however often they are read, the database is asked once in fifteen seconds", async () => {
  let asked = 0;
  const counted = steppingDatabase(deps.database, (step) => void (asked += step === "statement" ? 1 : 0));
  const metrics = createMetrics();
  let now = 0;
  addFleetGauges(metrics.registry, { database: counted }, () => now);
  for (let look = 0; look < 3; look += 1) {
    await Promise.all([metrics.registry.metrics(), metrics.registry.metrics()]);
    await metrics.registry.metrics();
    now += 15_000;
  }
  // Three looks at the counts, three at the queues.
  expect(asked).toBe(6);
});

test("while Postgres does not answer, its gauges are left out and the others are shown", async () => {
  const metrics = createMetrics();
  const closed = { ...deps.database, sql: (() => {}) as never };
  addFleetGauges(metrics.registry, { database: closed });
  addServerGauges(metrics.registry, { database: deps.database, signal: memorySignal() });
  expect(await shown(metrics, "jobs{")).toEqual({});
  expect(await shown(metrics, "oldest_ready")).toEqual({});
  expect(await shown(metrics, "redis_state")).toEqual({
    'atlasqueue_redis_state{state="up"}': "1",
    'atlasqueue_redis_state{state="refusing"}': "0",
    'atlasqueue_redis_state{state="down"}': "0",
  });
  expect(await shown(metrics, "database_connections_limit")).toEqual({ atlasqueue_database_connections_limit: "10" });
  const asleep = deps.database.sql`SELECT pg_sleep(600)`.execute();
  await eventually(async () =>
    expect(await shown(metrics, "database_connections_busy")).toEqual({ atlasqueue_database_connections_busy: "1" }),
  );
  expect(await shown(metrics, "database_statements_waiting")).toEqual({ atlasqueue_database_statements_waiting: "0" });
  asleep.cancel();
  await expect(asleep).rejects.toMatchObject({ code: "57014" });
});

test("lost is told apart from refused, and expired from retried", async () => {
  const metrics = createMetrics();
  const about = { tenant: "default", job_id: "j", job_type: "t", queue: "q", attempt: 1, worker_id: "w" };
  metrics.observe({ event: "lease_not_acquired", count: 3, worker_id: "w" });
  metrics.observe({ event: "lease_lost", during: "settling", ...about });
  metrics.observe({ event: "jobs_promoted", scheduled: 7, retried: 2 });
  metrics.observe({ event: "lease_expired", outcome: "requeued", ...about });
  expect(await shown(metrics, "")).toMatchObject({
    atlasqueue_lease_rejected_total: "3",
    'atlasqueue_lease_lost_total{during="settling"}': "1",
    atlasqueue_jobs_retried_total: "2",
    'atlasqueue_leases_expired_total{outcome="requeued"}': "1",
  });
});
