import { expect, test } from "vitest";
import { longestSilence } from "./silence.ts";

test("the longest silence after a fault counts from the fault, or from what succeeded after it", () => {
  expect(longestSilence([900, 2_500, 2_600], 1_000)).toBe(1_500);
  expect(longestSilence([900, 1_200, 4_000, 4_100], 1_000)).toBe(2_800);
  expect(longestSilence([0, 900, 1_010, 1_020], 1_000)).toBe(10);
});
