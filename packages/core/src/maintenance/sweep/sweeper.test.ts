import { expect, test } from "vitest";
import { isQuiet } from "./sweeper.ts";

const nothing = {
  due_in_ms: 60_000,
  lease_check_in_ms: null,
  any_queued: false,
  any_changes: false,
  newest_dead: null,
};
const nonce = { read: async () => undefined, write: async () => {} };
const redis = { nonce, state: () => "up" as const };

test("a system is quiet while no job is ready, leased or changed, and wake-ups arrive", () => {
  expect(isQuiet(nothing, redis)).toBe(true);
  for (const part of ["any_queued", "any_changes", "any_expired", "any_overdue_groups", "any_outbox"])
    expect(isQuiet({ ...nothing, [part]: true }, redis)).toBe(false);
  expect(isQuiet({ ...nothing, lease_check_in_ms: 20_000 }, redis)).toBe(false);
  expect(isQuiet({}, redis), "the summary was not answered in time").toBe(false);
  expect(isQuiet(nothing, { nonce, state: () => "down" })).toBe(false);
  expect(isQuiet(nothing, { state: () => "up" })).toBe(false);
});
