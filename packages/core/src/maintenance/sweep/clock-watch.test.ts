import { expect, test } from "vitest";
import { createClockWatch } from "./clock-watch.ts";

test("a jump forward is told once, and neither slow answers nor drift or a step back is one", () => {
  let now = 0;
  const jumpSince = createClockWatch(() => now);
  const look = (server_ms: number, took_ms = 0) => {
    const asked_at = now;
    now += took_ms;
    return jumpSince(server_ms, asked_at);
  };
  expect(look(50_000)).toBe(0);
  now = 1_000;
  // Three seconds on the way back, and then none.
  expect(look(51_000, 3_000)).toBe(0);
  expect(look(54_000)).toBe(0);
  now = 3_600_000;
  expect(look(3_651_500)).toBe(0);
  expect(look(3_690_000)).toBe(38_500);
  expect(look(3_690_000)).toBe(0);
  expect(look(90_000)).toBe(0);
  expect(look(91_000)).toBe(0);
});
