import { expect, test } from "vitest";
import { findCycle } from "./flow-faults.ts";

test("what has no circle is none: nothing, a diamond, a chain as long as a batch, and wide ones", () => {
  const chain = Array.from({ length: 1_000 }, (_, at) => (at === 0 ? [] : [at - 1]));
  const wide = [...Array.from({ length: 100 }, () => []), ...Array.from({ length: 100 }, () => [...Array(100).keys()])];
  for (const parents of [[], [[]], [[], [0], [0], [1, 2]], chain, wide]) expect(findCycle(parents)).toEqual([]);
});

test("a circle is named without what leads into it, and what waits for it", () => {
  expect(findCycle([[0]])).toEqual([0]);
  expect(findCycle([[1], [2], [0]])).toEqual([0, 1, 2]);
  // 0 waits for the circle of 2 and 3, which waits for 1.
  expect(findCycle([[2], [], [3, 1], [2]])).toEqual([2, 3]);
});

test("of each job of a circle, the next is one it waits for", () => {
  const parents = Array.from({ length: 1_000 }, (_, at) => [(at + 7) % 1_000]);
  const cycle = findCycle(parents);
  expect(cycle).toHaveLength(1_000);
  cycle.forEach((at, nth) => expect(parents[at]).toContain(cycle[(nth + 1) % cycle.length]));
});
