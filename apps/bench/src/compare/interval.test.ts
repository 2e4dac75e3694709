import { expect, test } from "vitest";
import { medianInterval } from "./interval.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, at) => count - at);

// The table of such intervals in textbooks, at a confidence of at least 95 %.
test.each([
  [6, 1, 6],
  [8, 1, 8],
  [9, 2, 8],
  [10, 2, 9],
  [12, 3, 10],
  [15, 4, 12],
  [20, 6, 15],
])("of %i values it is from the one at %i to the one at %i, in order of size", (count, low, high) => {
  expect(medianInterval(numbers(count))).toEqual({ low, high });
});

test("too few values have none", () => {
  expect(medianInterval([])).toBeUndefined();
  expect(medianInterval(numbers(5))).toBeUndefined();
  expect(medianInterval(numbers(5), 0.9)).toEqual({ low: 1, high: 5 });
});
