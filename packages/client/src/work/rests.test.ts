import { expect, test } from "vitest";
import { againMs, awayRestMs, renewInMs, restMs } from "./rests.ts";

test("the longest rest ends while there is still time for another try", () => {
  const slept: number[] = [];
  for (let left_ms = 20_000, failures = 8; left_ms > 0; failures += 1) {
    const rest_ms = restMs(left_ms, failures, 1);
    slept.push(rest_ms);
    left_ms -= rest_ms;
  }
  expect(slept.slice(0, 4)).toEqual([10_000, 5_000, 2_500, 1_250]);
  expect(slept.at(-1)).toBe(200);
  expect(slept).toHaveLength(8);
});

test("once nothing is left, an outcome on its way has the ordinary rests", () => {
  expect(restMs(-1, 8, 1)).toBe(10_000);
  expect(restMs(-1, 1, 0.5)).toBe(200);
});

test("while the database is away, a job asks each second at the end of its lease, and less often before", () => {
  expect([30_000, 16_000, 8_000, 100].map((left_ms) => awayRestMs(left_ms, 1))).toEqual([3_750, 2_000, 1_000, 1_000]);
  expect(awayRestMs(8_000, 0)).toBe(500);
});

test("jobs that were leased together are not renewed together", () => {
  const all = Array.from({ length: 100 }, () => renewInMs(30_000));
  expect(Math.min(...all)).toBeGreaterThanOrEqual(7_500);
  expect(Math.max(...all)).toBeLessThanOrEqual(10_000);
  expect(new Set(all).size).toBeGreaterThan(90);
});

test("a renewal is sent again after a third of what is left, and not before an API may have said that its database is away", () => {
  expect([12_000, 9_000, 7_500, 6_000, 5_000].map(againMs)).toEqual([4_000, 3_000, 2_500, 2_500, 2_500]);
});

test("one that leaves time for another when it has failed is sent alone", () => {
  expect([22_500, 12_501].map(againMs)).toEqual([Infinity, Infinity]);
});

test("a short lease has two tries nevertheless, and one that is about to end no further ones", () => {
  expect([4_000, 2_100, 1_000, 999, -1].map(againMs)).toEqual([2_000, 1_050, 500, Infinity, Infinity]);
});
