import { expect, test } from "vitest";
import { longestSilence, mostAtOnce, orderOf, readRuns, repeated } from "./runs.ts";

const read = (...lines: string[]) => readRuns(lines.map((line) => `${line}\n`).join(""));
const all = new Set(["a", "b", "c"]);

test("one after the other is one at once; a run that begins before another's end makes two", () => {
  expect(mostAtOnce(read("start a 1 10", "end a 1 10", "start b 1 10", "end b 1 10"), all)).toBe(1);
  expect(mostAtOnce(read("start a 1 10", "start b 1 11", "end a 1 10", "end b 1 11"), all)).toBe(2);
  expect(mostAtOnce(read("start a 1 10", "start a 2 11", "end a 2 11", "end a 1 10"), new Set(["a"]))).toBe(2);
  expect(mostAtOnce(read("start a 1 10", "start z 1 11"), all)).toBe(1);
});

test("what a killed process left behind has ended, what another did not write down has not", () => {
  const runs = read("start a 1 10", "start a 2 11", "end a 2 11");
  expect(mostAtOnce(runs, all, new Set([10]))).toBe(1);
  expect(mostAtOnce(runs, all, new Set([11]))).toBe(2);
});

test("a job that ran again in its place keeps the order, one that came back later breaks it", () => {
  const again = read("start a 1 10", "end a 1 10", "start a 2 10", "end a 2 10", "start b 1 10");
  expect(orderOf(again, all)).toEqual(["a", "b"]);
  expect(repeated(again, all)).toEqual(["a"]);
  expect(orderOf(read("start a 1 10", "start b 1 10", "start a 2 10"), all)).toEqual(["a", "b", "a"]);
});

test("the longest silence after a fault counts from the fault, or from what succeeded after it", () => {
  expect(longestSilence([900, 2_500, 2_600], 1_000)).toBe(1_500);
  expect(longestSilence([900, 1_200, 4_000, 4_100], 1_000)).toBe(2_800);
  expect(longestSilence([0, 900, 1_010, 1_020], 1_000)).toBe(10);
});
