import { expect, test } from "vitest";
import type { Row } from "./result.ts";
import { checkTargets } from "./targets.ts";

const rate = (scenario: string, variant: string, median: number): Row => {
  return { scenario, variant, unit: "per second", rounds: [median], median };
};
const time = (scenario: string, variant: string, median: number): Row => {
  return { scenario, variant, unit: "ms", rounds: [median], median };
};

test("a ratio is ours by theirs, and at the target it is met", () => {
  const targets = checkTargets([
    rate("add, 50 callers", "atlasqueue", 24_000),
    rate("add, 50 callers", "bullmq-memory", 30_000),
    rate("add, 50 callers", "pg-boss", 2_000),
  ]);
  expect(targets).toEqual([
    expect.objectContaining({ name: "single add, 50 callers ÷ BullMQ in memory", ratio: 0.8, target: 1, met: false }),
    expect.objectContaining({ name: "single add, 50 callers ÷ pg-boss", ratio: 12, target: 12, met: true }),
  ]);
});

test("the best peer is the fastest one, and no bare variant is a peer", () => {
  const targets = checkTargets([
    rate("bulk add by 1,000", "atlasqueue", 90),
    rate("bulk add by 1,000", "bullmq-memory", 30),
    rate("bulk add by 1,000", "graphile-worker", 60),
    rate("bulk add by 1,000", "bare-sql", 100),
  ]);
  expect(targets.map(({ name, ratio }) => [name, ratio])).toEqual([
    ["bulk add ÷ the best peer", 1.5],
    ["bulk add ÷ bare SQL", 0.9],
  ]);
});

test("for times less is better, and BullMQ on Redis is not among the peers on PostgreSQL", () => {
  const targets = checkTargets([
    time("latency p50", "atlasqueue", 0.7),
    time("latency p50", "bullmq-memory", 0.2),
    time("latency p50", "pg-boss", 2),
    time("latency p50", "graphile-worker", 1.4),
  ]);
  expect(targets).toEqual([
    { name: "latency p50 ÷ the best peer on PostgreSQL", ratio: 0.5, target: 0.7, bound: "at most", met: true },
  ]);
});

test("some targets concern only ours: a figure as it is, or one of ours by another", () => {
  const targets = checkTargets([
    rate("idle, transactions", "atlasqueue", 0.9),
    rate("process, empty", "atlasqueue", 40_000),
    rate("process, full", "atlasqueue", 30_000),
    rate("process, full", "pg-boss", 99_000),
  ]);
  expect(targets.map(({ name, ratio, met }) => [name, ratio, met])).toEqual([
    ["idle API and worker, transactions a second", 0.9, true],
    ["process: history and backlog ÷ empty table", 0.75, false],
  ]);
});

test("the CPU of a job is compared with that of the thriftiest peer, and with bare SQL's", () => {
  const costly = (variant: string, client_us: number): Row => {
    const costs = { client_us, postgres_us: 10, redis_us: 0, waited_us: 5, wal_bytes: 500 };
    return { ...rate("process", variant, 1), costs: { rounds: [costs], median: costs } };
  };
  const rows = [costly("atlasqueue", 20), costly("pg-boss", 5), costly("graphile-worker", 50), costly("bare-sql", 2)];
  const targets = checkTargets(rows).filter(({ name }) => name.startsWith("CPU"));
  expect(targets.map(({ name, ratio, met }) => [name, ratio, met])).toEqual([
    ["CPU of a job, process ÷ the thriftiest peer", 2, false],
    ["CPU of a job, process ÷ bare SQL", 2.5, false],
  ]);
});

test("what was not measured has no target", () => {
  expect(checkTargets([rate("process", "atlasqueue", 50_000)])).toEqual([]);
  expect(checkTargets([rate("process", "pg-boss", 50_000)])).toEqual([]);
});
