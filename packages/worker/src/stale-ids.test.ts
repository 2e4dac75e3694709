import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { any, drivers, main, noop, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, deps, read, sql, useOwnRedis, useSignal, work } = workerHarness();

test("a job behind 20,000 ids of jobs that have ended is run within 2 s", async () => {
  useSignal(drivers.redis);
  const ids = await add(...Array.from({ length: 500 }, () => ({})));
  const worker = work([noop], { concurrency: 500 });
  for (const id of ids) await becomes(id, { status: "succeeded" });
  await worker.stop({ deadlineMs: 0 });
  const ended = ids.map((id) => ({ ...main, id, priority: 0 }));
  for (let times = 0; times < 40; times += 1) await deps().signal.push(ended);
  const [last] = await add({});
  const added_at = performance.now();
  work([noop], { concurrency: 2 });
  await eventually(async () => expect(await read(last)).toMatchObject({ status: "succeeded" }));
  expect(performance.now() - added_at).toBeLessThan(2_000);
});

test("after a FLUSHALL with 30,000 waiting a worker is never idle for 2 s", { tags: ["nightly"] }, async () => {
  const redis = await useOwnRedis();
  for (let batch = 0; batch < 30; batch += 1) await add(...Array.from({ length: 1_000 }, () => ({})));
  let ran = 0;
  let last_at = performance.now();
  let idle_ms = 0;
  const counting = defineHandler("noop", any, () => {
    ran += 1;
    idle_ms = Math.max(idle_ms, performance.now() - last_at);
    last_at = performance.now();
  });
  for (let worker = 0; worker < 2; worker += 1) work([counting], { concurrency: 10 });
  await eventually(() => expect(ran).toBeGreaterThan(5_000), { timeout_ms: 60_000 });
  await redis.flushall();
  await eventually(() => expect(ran).toBeGreaterThanOrEqual(30_000), { timeout_ms: 120_000 });
  expect(idle_ms).toBeLessThan(2_000);
  // The last outcomes are still on their way.
  await eventually(async () =>
    expect(await sql()`SELECT FROM atlasqueue.jobs WHERE status <> 'succeeded'`).toHaveLength(0),
  );
});
