import { expect, test } from "vitest";
import { deadlineLeft } from "./patience.ts";

const waiting = { began_at: 1_000, timeout_ms: 100 };

test("a statement's deadline counts from when it is sent, however long it waited before", () => {
  expect(deadlineLeft({ ...waiting, sent_at: () => 1_250 }, { answered_at: -Infinity }, 1_300)).toBe(50);
  expect(deadlineLeft({ ...waiting, sent_at: () => 1_250 }, { answered_at: 1_349 }, 1_350)).toBe(0);
});

test("one waiting for a connection is late at its deadline when no one is answered", () => {
  expect(deadlineLeft(waiting, { answered_at: -Infinity }, 1_100)).toBe(0);
  expect(deadlineLeft(waiting, { answered_at: 900 }, 1_100)).toBe(0);
});

test("while others are answered it waits, for at most three deadlines", () => {
  expect(deadlineLeft(waiting, { answered_at: 1_090 }, 1_100)).toBe(90);
  expect(deadlineLeft(waiting, { answered_at: 1_299 }, 1_299)).toBe(1);
  expect(deadlineLeft(waiting, { answered_at: 1_300 }, 1_300)).toBe(0);
});
