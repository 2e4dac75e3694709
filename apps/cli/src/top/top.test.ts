import { stripVTControlCharacters } from "node:util";
import { queueDefaults, type Queue } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { frame } from "./frame.ts";
import { ratesBetween } from "./rates.ts";

const none = { scheduled: 0, blocked: 0, queued: 0, running: 0, failed: 0, succeeded: 0, dead: 0, cancelled: 0 };
const queue = (name: string, counts: Partial<Queue["counts"]>): Queue => ({
  queue: name,
  paused: false,
  counts: { ...none, ...counts },
  limits: { concurrency: null, group_concurrency: null, rate: null, group_rate: null, fair_by: null },
  defaults: queueDefaults.parse({}),
  oldest_queued_at: null,
});

test("a rate is what ended between two looks, per second", () => {
  const before = { at_ms: 0, queues: [queue("a", { succeeded: 10 }), queue("b", { succeeded: 9 })] };
  const now = {
    at_ms: 2_000,
    queues: [queue("a", { succeeded: 15, dead: 1 }), queue("b", {}), queue("c", { dead: 2 })],
  };
  expect([...ratesBetween(before, now)]).toEqual([
    ["a", 3],
    ["b", 0],
    ["c", 1],
  ]);
  expect(ratesBetween(undefined, now).size).toBe(0);
});

test("the busiest queues that fit are shown, under the totals", () => {
  const queues = [
    queue("idle", {}),
    queue("busy", { queued: 3, running: 2 }),
    { ...queue("late", { queued: 1 }), paused: true },
  ];
  const text = stripVTControlCharacters(
    frame({ at_ms: 0, queues }, new Map([["busy", 2.5]]), { width: 100, lines: 6 }),
  );
  const [totals, , headings, first, second, more, end] = text.split("\n");
  expect(totals).toBe("00:00:00  3 queues  4 queued  2 running  0 dead  2.5/s");
  expect(headings).toMatch(/^queue +scheduled +blocked +queued +running +failed +dead +done\/s +waiting$/);
  expect(first).toMatch(/^busy +0 +0 +3 +2 +0 +0 +2\.5$/);
  expect(second).toMatch(/^late \(paused\) /);
  expect([more, end]).toEqual(["… and 1 more", undefined]);
});
