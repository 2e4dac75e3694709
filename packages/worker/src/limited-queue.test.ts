import { queueLimits, type QueueLimitsInput } from "@atlasqueue/contract";
import { setLimits } from "@atlasqueue/core/internal";
import { eventually } from "@atlasqueue/harness";
import { beforeEach, describe, expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { any, drivers, gate, main, signals, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, becomes, deps, sql, useSignal, work } = workerHarness();

describe.each(Object.entries(signals))("with %s", (_name, driver) => {
  beforeEach(async () => {
    useSignal(driver);
    await sql()`TRUNCATE atlasqueue.queues, atlasqueue.queue_starts`;
  });
  const limit = (limits: QueueLimitsInput) => setLimits(deps(), main, queueLimits.parse(limits));

  test("two workers run all jobs of a limited queue, never more at once than the limit", async () => {
    await limit({ concurrency: 3 });
    let running = 0;
    let most = 0;
    const handler = defineHandler("noop", any, async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(2);
      running -= 1;
    });
    const jobs = await add(...Array.from({ length: 40 }, () => ({})));
    for (let worker = 0; worker < 2; worker += 1) work([handler], { concurrency: 10, pollTimeoutSeconds: 1 });
    for (const id of jobs) await becomes(id, { status: "succeeded", attempts: 1 });
    expect(most).toBe(3);
  });

  test("a rate lets its number start in a period, and the others after it", async () => {
    await limit({ rate: { limit: 2, period_seconds: 0.3 } });
    work([defineHandler("noop", any, () => {})], { pollTimeoutSeconds: 1 });
    const jobs = await add({}, {}, {}, {}, {});
    for (const id of jobs) await becomes(id, { status: "succeeded" });
    const rows = await sql()<{ started_at: Date }[]>`SELECT started_at FROM atlasqueue.jobs ORDER BY started_at`;
    const times = rows.map(({ started_at }) => started_at.getTime());
    // Of any three in a row, the first and the last are a period apart, give or take the wait for the lock.
    for (let at = 2; at < times.length; at += 1)
      expect((times[at] ?? 0) - (times[at - 2] ?? 0)).toBeGreaterThanOrEqual(250);
  });
});

test("once a list was lost, what waited there starts before what came in since", async () => {
  useSignal(drivers.redis);
  await setLimits(deps(), main, queueLimits.parse({ concurrency: 1 }));
  const first = gate();
  const order: unknown[] = [];
  const handler = defineHandler("noop", any, async ({ n }) => {
    order.push(n);
    if (order.length === 1) await first.opened;
  });
  const addNumbers = (...numbers: number[]) => add(...numbers.map((n) => ({ payload: { n } })));
  await addNumbers(1, 2, 3);
  work([handler], { concurrency: 1 });
  await eventually(() => expect(order).toHaveLength(1));
  await deps().signal.setMarked(main, false);
  await addNumbers(4, 5);
  first.open();
  await eventually(() => expect(order).toHaveLength(5));
  expect(order.slice(0, 3)).toEqual([1, 2, 3]);
});
