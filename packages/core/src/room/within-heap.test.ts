import { getHeapStatistics } from "node:v8";
import { expect, test } from "vitest";
import { withinHeap } from "./within-heap.ts";

test("a bound is as given where the heap allows it, and its part of the heap where it does not", () => {
  const free = getHeapStatistics().heap_size_limit - 64 * 1_048_576;
  expect(withinHeap(1_000, { part: 4 })).toBe(1_000);
  expect(withinHeap(Infinity, { part: 4 })).toBe(Math.floor(free / 4));
  expect(withinHeap(Infinity, { part: 2, grown: true })).toBe(Math.floor((free - 192 * 1_048_576) / 2));
  expect(withinHeap(Infinity, { part: 2.5, bytes_each: 40_000 })).toBe(Math.floor(free / 100_000));
});
