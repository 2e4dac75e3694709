import { expect, test } from "vitest";
import { pace, perMinute, percent } from "./format.ts";
import { wentOf } from "./went.ts";

const from = "2030-01-31T12:00:00.000Z";
const steps = (jobs: number) => Array.from({ length: 20 }, () => jobs);

test("rates are of the last five steps, up to now, and the failing part is of the hour", () => {
  const submitted = [...steps(0).slice(5), 60, 60, 60, 60, 6];
  const items = [
    { queue: "mails", submitted, succeeded: steps(12), failed: steps(3) },
    { queue: "quiet", submitted: steps(0), succeeded: steps(0), failed: steps(0) },
  ];
  // 19 whole steps of three minutes, and 20 seconds of the last one.
  const went = wentOf({ from, step_seconds: 180, items }, Date.parse(from) + 19 * 180_000 + 20_000);
  expect(went.get("mails")?.in_per_second).toBeCloseTo(246 / 740);
  expect(went.get("mails")).toMatchObject({ failing: 0.2 });
  expect(went.get("quiet")).toMatchObject({ in_per_second: 0, out_per_second: 0, failing: null });
});

test.each([
  [0, "0 /s"],
  [12.4, "12 /s"],
  [1, "1 /s"],
  [0.035, "2.1 /min"],
  [2 / 3_600, "2 /h"],
])("%d jobs a second are written as %s", (per_second, written) => {
  expect(pace(per_second).join(" ")).toBe(written);
});

test("figures of a column are in one unit", () => {
  expect([0.0001, 0.035, 12, 4_000].map(perMinute)).toEqual(["<0.1", "2.1", "720", "240K"]);
  expect([0, 0.004, 0.129, 1].map(percent)).toEqual(["0%", "<1%", "12%", "100%"]);
});
