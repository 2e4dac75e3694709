import { expect, test } from "vitest";
import { addTo, bucketOf, merge, percentile_error, percentiles, type Histogram } from "./histogram.ts";

test("a percentile from the buckets is within nine percent of the true one, from a millisecond to a month", () => {
  expect(percentile_error).toBeLessThan(0.091);
  const longest = 30 * 86_400_000;
  for (let length = 1; length < longest; length *= 1.013) {
    const histogram: Histogram = [];
    addTo(histogram, bucketOf(length), 1);
    const { p50_ms } = percentiles(histogram);
    // Shown with three digits, which adds half a percent.
    expect(Math.abs((p50_ms ?? 0) / length - 1)).toBeLessThan(percentile_error + 0.005);
  }
});

test("what is shorter than a millisecond, unknown to the clock or longer than a month has a bucket too", () => {
  expect([0, -5, 0.4, NaN].map(bucketOf)).toEqual([0, 0, 0, 0]);
  expect(bucketOf(Infinity)).toBe(bucketOf(1e15));
});

test("percentiles are those of the durations in order, and null when there are none", () => {
  const histogram: Histogram = [];
  for (let ms = 1; ms <= 1_000; ms += 1) addTo(histogram, bucketOf(ms), 1);
  const { count, p50_ms, p95_ms, p99_ms } = percentiles(histogram);
  expect(count).toBe(1_000);
  expect([(p50_ms ?? 0) / 500, (p95_ms ?? 0) / 950, (p99_ms ?? 0) / 990].every((of) => Math.abs(of - 1) < 0.1)).toBe(
    true,
  );
  expect(percentiles([])).toEqual({ count: 0, p50_ms: null, p95_ms: null, p99_ms: null });
});

test("histograms of different lengths add up", () => {
  const into = [1, 0, 2];
  merge(into, [0, 1, 0, 0, 5]);
  expect(into).toEqual([1, 1, 2, 0, 5]);
});
