import { queueLimits } from "@atlasqueue/contract";
import { setLimits } from "@atlasqueue/core/internal";
import { eventually, steppingDatabase } from "@atlasqueue/harness";
import { beforeEach, expect, test } from "vitest";
import { any, drivers, gate, main, workerHarness } from "../test/harness.ts";
import { defineHandler } from "./handler.ts";

const { add, deps, named, sql, useOwnRedis, useSignal, work } = workerHarness();
const one_at_once = queueLimits.parse({ concurrency: 1 });
const jobs = (count: number) => add(...Array.from({ length: count }, () => ({})));

beforeEach(async () => {
  await sql()`
    TRUNCATE atlasqueue.queues, atlasqueue.queue_starts, atlasqueue.queue_counts, atlasqueue.queue_changes`;
});

/** The first job to run holds its slot until the gate is open. */
function holding() {
  const first = gate();
  let ran = 0;
  const handler = defineHandler("noop", any, async () => {
    ran += 1;
    if (ran === 1) await first.opened;
  });
  return { handler, ran: () => ran, open: first.open };
}

test("a full limited queue costs eight idle workers under 30 statements a second", { tags: ["slow"] }, async () => {
  useSignal(drivers.redis);
  await setLimits(deps(), main, one_at_once);
  const { handler, ran, open } = holding();
  const sent: string[] = [];
  const database = steppingDatabase(deps().database, (kind, _number, text) => {
    if (kind === "statement") sent.push(text);
  });
  const workers = Array.from({ length: 8 }, () => work([handler], {}, { database }));
  await jobs(50);
  await eventually(() => expect(ran()).toBe(1));
  const sweeps = () => named("sweep_complete").length;
  const settled = sweeps();
  await eventually(() => expect(sweeps()).toBeGreaterThan(settled + 1));
  const [from, began_at, swept] = [sent.length, performance.now(), sweeps()];
  await eventually(() => expect(sweeps()).toBeGreaterThan(swept + 3));
  const seconds = (performance.now() - began_at) / 1_000;
  const ran_meanwhile = ran();
  open();
  await Promise.all(workers.map((worker) => worker.stop({ deadlineMs: 0 })));
  expect((sent.length - from) / seconds).toBeLessThan(30);
  expect(ran_meanwhile).toBe(1);
});

test("after a FLUSHALL the jobs of a limited queue go on within 2 s", { tags: ["slow"] }, async () => {
  const redis = await useOwnRedis();
  await setLimits(deps(), main, queueLimits.parse({ concurrency: 2 }));
  await jobs(20);
  await redis.flushall();
  let last_at = 0;
  let idle_ms = 0;
  let ran = 0;
  const counting = defineHandler("noop", any, () => {
    if (ran > 0) idle_ms = Math.max(idle_ms, performance.now() - last_at);
    last_at = performance.now();
    ran += 1;
  });
  for (let worker = 0; worker < 2; worker += 1) work([counting]);
  const started_at = performance.now();
  await eventually(() => expect(ran).toBe(20));
  expect(last_at - started_at).toBeLessThan(5_000);
  await jobs(1_000);
  await eventually(() => expect(ran).toBeGreaterThan(100));
  await redis.flushall();
  await eventually(() => expect(ran).toBe(1_020));
  expect(idle_ms).toBeLessThan(2_000);
});

test("once its limits are removed, an idle worker runs 500 waiting jobs without a new one", async () => {
  useSignal(drivers.redis);
  await setLimits(deps(), main, one_at_once);
  const { handler, ran, open } = holding();
  work([handler]);
  await jobs(501);
  await eventually(() => expect(ran()).toBe(1));
  await setLimits(deps(), main, queueLimits.parse({}));
  await eventually(() => expect(ran()).toBe(501));
  open();
});
