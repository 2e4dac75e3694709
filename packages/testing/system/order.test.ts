import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../src/index.ts";
import { inParallel, startSystem, type System } from "./system.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

test("a queue kept busy by 5,000 fresh jobs still runs its due retries within two seconds of run_at", async () => {
  const api = await system.startApi({ LOG_LEVEL: "warn" });
  const retries = await Promise.all(
    Array.from({ length: 20 }, () =>
      api.create({ type: "demo.flaky", payload: { fail_times: 1 }, backoff: { kind: "fixed", base_seconds: 1 } }),
    ),
  );
  await inParallel(2_500, 20, () => api.create({ type: "noop" }));
  await system.startWorker({ WORKER_CONCURRENCY: "5", LOG_LEVEL: "warn" });
  await inParallel(2_500, 20, () => api.create({ type: "noop" }));
  await eventually(
    async () => {
      const [open] = await system.sql`SELECT count(*)::int AS n FROM jobs WHERE status <> 'succeeded'`;
      expect(open?.["n"]).toBe(0);
    },
    { timeout_ms: 60_000 },
  );
  const late = await system.sql<{ seconds: number }[]>`
    SELECT extract(epoch FROM started_at - run_at)::float8 AS seconds FROM jobs WHERE id = ANY(${retries}::uuid[]) AND attempts = 2`;
  expect(late).toHaveLength(20);
  expect(Math.max(...late.map((row) => row.seconds))).toBeLessThan(2);
}, 90_000);

test("jobs queued in a backlog start oldest first", async () => {
  const api = await system.startApi({ LOG_LEVEL: "warn" });
  const ids: string[] = [];
  for (let at = 0; at < 100; at += 1) ids.push(await api.create({ type: "noop" }));
  const worker = await system.startWorker({ WORKER_CONCURRENCY: "1" });
  await eventually(async () => {
    const [open] = await system.sql`SELECT count(*)::int AS n FROM jobs WHERE status <> 'succeeded'`;
    expect(open?.["n"]).toBe(0);
  });
  const started = worker.logs.filter((line) => line["event"] === "handler_start").map((line) => line["job_id"]);
  expect(started).toEqual(ids);
});
