import { expect, test } from "vitest";
import { restMs } from "./rests.ts";

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
