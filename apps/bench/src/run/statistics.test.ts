import { expect, test } from "vitest";
import { median, percentile, tails } from "./statistics.ts";

test("the median is the middle value, whatever the order", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4])).toBe(4);
});

test("between two middle values, the median is half-way", () => {
  expect(median([10, 1, 4, 2])).toBe(3);
});

test("a percentile is a measured value that enough others do not exceed", () => {
  const values = Array.from({ length: 1_000 }, (_, at) => 1_000 - at);
  expect(percentile(values, 50)).toBe(500);
  expect(percentile(values, 99)).toBe(990);
  expect(percentile(values, 99.9)).toBe(999);
  expect(percentile([7], 50)).toBe(7);
});

test("nothing measured is no number", () => {
  expect(median([])).toBeNaN();
  expect(percentile([], 50)).toBeNaN();
});

test("tails: a bad second shows in the worst ten seconds, not in the median second", () => {
  const samples = Array.from({ length: 3_000 }, (_, at) => ({
    at_ms: at * 10,
    ms: Math.floor(at / 100) === 20 ? 90 : 4,
  }));
  expect(tails(samples)).toEqual({ second_ms: 4, worst_ms: 90 });
  expect(tails(samples.slice(0, 300))).toEqual({ second_ms: 4, worst_ms: 4 });
  expect(tails([])).toEqual({ second_ms: NaN, worst_ms: NaN });
});
