import { afterEach, expect, test, vi } from "vitest";
import { newId, timeOf } from "./ids.ts";

afterEach(() => void vi.restoreAllMocks());
const clockAt = (ms: number) => vi.spyOn(Date, "now").mockReturnValue(ms);
const now = Date.now();
const day_ms = 86_400_000;

test("ids sort in the order they were made, while the clock stands still and while it is a little back", () => {
  clockAt(now);
  const ids = [newId(), newId()];
  clockAt(now - 59_000);
  ids.push(newId(), newId());
  clockAt(now + 1);
  ids.push(newId());
  expect(ids.toSorted()).toEqual(ids);
});

test("after a moment with a clock far ahead ids follow the clock back: those ahead would be kept for as long", () => {
  clockAt(now + 400 * day_ms);
  expect(timeOf(newId()).getTime()).toBe(now + 400 * day_ms);
  clockAt(now + 2);
  const ids = [newId(), newId()];
  expect(ids.map((id) => timeOf(id).getTime())).toEqual([now + 2, now + 2]);
  expect(ids.toSorted()).toEqual(ids);
});
