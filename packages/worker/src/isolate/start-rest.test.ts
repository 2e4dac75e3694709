import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NotStartedError } from "./child-process.ts";
import { createStartRest } from "./start-rest.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const error = new NotStartedError("spawn EAGAIN");

/** One whose tries all fail until `mended`, and what it has told. */
function resting() {
  const told: (number | string)[] = [];
  const state = { mended: false };
  const starts = createStartRest(() => (state.mended ? starts.succeeded() : starts.failed(error)), {
    notStarted: (_error, retry_in_ms) => told.push(retry_in_ms),
    startedAgain: () => told.push("started"),
  });
  return { starts, told, state };
}

test("each rest is twice as long as the one before, and none longer than thirty seconds", () => {
  const { starts, told } = resting();
  starts.failed(error);
  vi.advanceTimersByTime(61_500);
  expect(told).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(starts.failingForMs()).toBe(61_500);
  starts.stop();
});

test("of several that fail at once, and of those that fail during a rest, the first counts", () => {
  const { starts, told } = resting();
  for (let times = 0; times < 5; times += 1) starts.failed(error);
  expect(told).toEqual([500]);
  starts.stop();
});

test("a success ends the rest and what it had grown to", () => {
  const { starts, told, state } = resting();
  starts.failed(error);
  vi.advanceTimersByTime(600);
  state.mended = true;
  vi.advanceTimersByTime(1_000);
  expect(starts.failing()).toBeUndefined();
  expect(starts.failingForMs()).toBe(0);
  starts.failed(error);
  starts.succeeded();
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([500, 1_000, "started", 500, "started"]);
});
