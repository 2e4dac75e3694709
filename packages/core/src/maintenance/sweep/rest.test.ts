import { expect, test } from "vitest";
import type { DueSummary } from "../due-summary.ts";
import { isQuiet, restMs } from "./rest.ts";

const nothing: DueSummary = {
  due_in_ms: null,
  schedule_in_ms: null,
  lease_check_in_ms: null,
  operation_in_ms: null,
  any_expired: false,
  any_queued: false,
  any_changes: false,
  newest_dead: null,
  any_overdue_groups: false,
  any_outbox: false,
};

const redis = { heard: true, state: () => "up" } as const;

test("a system is quiet without jobs that are ready, leased or changed", () => {
  expect(isQuiet(nothing, redis)).toBe(true);
  // Known to the sweep, which wakes up for it.
  expect(isQuiet({ ...nothing, due_in_ms: 60_000, schedule_in_ms: 1_500, newest_dead: new Date() }, redis)).toBe(true);
  for (const part of ["any_expired", "any_queued", "any_changes", "any_overdue_groups", "any_outbox"] as const)
    expect(isQuiet({ ...nothing, [part]: true }, redis)).toBe(false);
  expect(isQuiet({ ...nothing, lease_check_in_ms: 20_000 }, redis)).toBe(false);
  // Its summary was not answered in time.
  expect(isQuiet({}, redis)).toBe(false);
});

test("a system without wake-ups is never quiet", () => {
  expect(isQuiet(nothing, { ...redis, state: () => "down" })).toBe(false);
  expect(isQuiet(nothing, { ...redis, marks_only: true })).toBe(false);
  expect(isQuiet(nothing, { ...redis, heard: false })).toBe(false);
});

test("quiet cells of a process are swept at the same moments, within two seconds", () => {
  const ends = [10_001, 10_100.5, 10_249].map((now) => now + restMs(true, now));
  expect(ends).toEqual([12_000, 12_000, 12_000]);
});

test("with jobs, processes rest for a little over a second, each for another time", () => {
  expect([0, 0.5, 1].map((chance) => restMs(false, 0, () => chance))).toEqual([1_220, 1_281, 1_342]);
});
