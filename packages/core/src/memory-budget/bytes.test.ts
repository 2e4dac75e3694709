import { getHeapStatistics } from "node:v8";
import { expect, test } from "vitest";
import { heapBytes, withinHeap } from "./bytes.ts";

const limit = getHeapStatistics().heap_size_limit;

test("a bound is as given where the heap allows it, and its part of the heap where it does not", () => {
  const free = heapBytes() - 64 * 1_048_576;
  expect(withinHeap(1_000, { part: 4 })).toBe(1_000);
  expect(withinHeap(Infinity, { part: 4 })).toBe(Math.floor(free / 4));
  expect(withinHeap(Infinity, { part: 2.5, bytes_each: 40_000 })).toBe(Math.floor(free / 100_000));
});

test.each([
  [[], limit],
  [["", "--enable-source-maps"], limit],
  [["--max-old-space-size=100"], 100 * 1_048_576],
  [["--max_old_space_size=100", "--max-old-space-size=50"], 50 * 1_048_576],
  [["--max-old-space-size 100"], 100 * 1_048_576],
  [["--max-old-space-size=900000000"], limit],
])("what lasts has to fit into what is set, else into V8's limit: %j", (options, bytes) => {
  expect(heapBytes(options)).toBe(bytes);
});
