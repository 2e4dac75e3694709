import { expect, test } from "vitest";
import { errorPattern, fingerprintOf } from "./fingerprint.ts";

test.each([
  ["Error: no user 17", "Error: no user ‹n›"],
  ["Error: no user -17.5 at 2026-11-21T12:00:01Z", "Error: no user -‹n› at ‹n›-‹n›-‹n›T‹n›Z"],
  ["TypeError: \"x\" is not a `thing` of 'y z'", "TypeError: ‹text› is not a ‹text› of ‹text›"],
  ["Error: can't reach the user's mailbox", "Error: can't reach the user's mailbox"],
  ["Error: 01920000-0000-7000-8000-0000000000AB is gone", "Error: ‹id› is gone"],
  ["Error: object at 0xDEADBEEF, commit 4df5b52a", "Error: object at ‹hex›, commit ‹hex›"],
  ["Error: 12345678 rows", "Error: ‹n› rows"],
  ["Error: defaced facade", "Error: defaced facade"],
  ["Error: connect ECONNREFUSED 127.0.0.1:5432", "Error: connect ECONNREFUSED ‹n›"],
  ["Error: first line\n    at file.ts:17:3", "Error: first line"],
  ["  Error:\ttabs   and  spaces ", "Error: tabs and spaces"],
  ["", ""],
])("%j is grouped as %j", (error, pattern) => {
  expect(errorPattern(error)).toBe(pattern);
});

test("errors of one cause have one fingerprint, others another, and every text has one", () => {
  expect(fingerprintOf("Error: no user 17")).toBe(fingerprintOf("Error: no user 4"));
  expect(fingerprintOf("Error: no user 17")).not.toBe(fingerprintOf("Error: no order 17"));
  expect(fingerprintOf(null)).toBe(fingerprintOf(""));
  expect(fingerprintOf("x")).toMatch(/^[0-9a-f]{16}$/);
});

test("a long first line is cut after its numbers are taken out, so their lengths make no other group", () => {
  const long = (id: number) => `Error: user ${id} ${"is not in the list ".repeat(40)}`;
  expect(fingerprintOf(long(7))).toBe(fingerprintOf(long(1_234_567)));
  expect(errorPattern(long(7))).toHaveLength(500);
});

test("a text made to be slow is not", () => {
  const started = performance.now();
  for (const text of ['"'.repeat(4_096), "'".repeat(4_096), "a1".repeat(2_048), "1.".repeat(2_048), " ".repeat(4_096)])
    for (let times = 0; times < 20; times += 1) errorPattern(text);
  expect(performance.now() - started).toBeLessThan(1_000);
});
