import { createLogger, memorySignal, type Database } from "@atlasqueue/core";
import { recordEvents } from "@atlasqueue/testing";
import { beforeEach, expect, test } from "vitest";
import { watchConsuming, type ConsumeWatch } from "./consume-watch.ts";

const queues = [{ tenant: "default", queue: "default" }];
const about = { tenant: "default", job_id: "j", job_type: "t", queue: "default", attempt: 1, worker_id: "w" };
let now: number;
let handling: number;
let watch: ConsumeWatch;
beforeEach(() => {
  now = 0;
  handling = 0;
  const deps = {
    database: {} as Database,
    signal: memorySignal(),
    observe: recordEvents().observe,
    logger: createLogger("silent", "test"),
  };
  watch = watchConsuming(deps, { concurrency: 2, handlingCount: () => handling }, 5, () => now);
});

test("a consumer that returns to the signal is not stuck, one that does not is", async () => {
  now += 14_000;
  await watch.deps.signal.take(queues, 1);
  now += 14_000;
  expect(watch.stuckForMs()).toBe(0);
  now += 2_000;
  expect(watch.stuckForMs()).toBe(16_000);
  await watch.deps.signal.take(queues, 1);
  expect(watch.stuckForMs()).toBe(0);
});

test("while all slots run handlers there is nothing to take, however long; once one ends there is", () => {
  handling = 2;
  now += 3_600_000;
  expect(watch.stuckForMs()).toBe(0);
  handling = 1;
  watch.deps.observe({ event: "handler_done", duration_ms: 1, ...about });
  expect(watch.stuckForMs()).toBe(0);
  now += 20_000;
  expect(watch.stuckForMs()).toBe(20_000);
});

test("claims that keep failing are noticed although the loop turns, until one is answered", async () => {
  for (let at = 0; at < 12; at += 1) {
    await watch.deps.signal.take(queues, 1);
    watch.deps.observe({ event: "database_unavailable", during: "claim", error: "away" });
    now += 1_000;
  }
  expect(watch.stuckForMs()).toBe(12_000);
  watch.deps.observe({ event: "lease_not_acquired", count: 1, worker_id: "w" });
  expect(watch.stuckForMs()).toBe(0);
});

test("claims that failed in an outage count no longer once a whole turn has gone by without another", async () => {
  const fail = () => watch.deps.observe({ event: "database_unavailable", during: "claim", error: "away" });
  const idleFor = async (seconds: number) => {
    for (let at = 0; at < seconds; at += 5) {
      now += 5_000;
      await watch.deps.signal.take(queues, 1);
    }
  };
  fail();
  await idleFor(15);
  expect(watch.stuckForMs()).toBe(0);
  fail();
  await idleFor(15);
  expect(watch.stuckForMs()).toBe(30_000);
  await idleFor(5);
  expect(watch.stuckForMs()).toBe(0);
  // Another outage, long after: it counts from its own beginning.
  fail();
  await idleFor(15);
  fail();
  expect(watch.stuckForMs()).toBe(15_000);
});
