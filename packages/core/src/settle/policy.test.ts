import { expect, test } from "vitest";
import { backoffDelayMs } from "./backoff.ts";
import { errorText, storableText } from "@atlasqueue/contract";
import { verdictAfterFailure } from "./verdict.ts";

const policy = { baseSeconds: 5, maxSeconds: 60, jitterMaxSeconds: 2 };

test("the delay doubles with each attempt, up to the cap, with random jitter on top", () => {
  expect([1, 2, 3, 4, 25].map((attempts) => backoffDelayMs(policy, null, attempts, 0))).toEqual([
    10_000, 20_000, 40_000, 60_000, 60_000,
  ]);
  expect(backoffDelayMs(policy, null, 25, 0.5)).toBe(61_000);
});

test("a job's own backoff replaces base and cap", () => {
  const fixed = { kind: "fixed", base_seconds: 7 } as const;
  expect([1, 5].map((attempts) => backoffDelayMs(policy, fixed, attempts, 0))).toEqual([7_000, 7_000]);
  expect(backoffDelayMs(policy, { kind: "exponential", base_seconds: 1, max_seconds: 3 }, 4, 0)).toBe(3_000);
});

test("the last attempt, or an error that says so, ends in death; others end in a retry", () => {
  const attempt = { attempts: 2, max_attempts: 3, backoff: null, retryable: true };
  expect(verdictAfterFailure(attempt, policy, 0)).toEqual({ kind: "retry", delay_ms: 20_000 });
  expect(verdictAfterFailure({ ...attempt, delay_ms: 5 }, policy, 0)).toEqual({ kind: "retry", delay_ms: 5 });
  expect(verdictAfterFailure({ ...attempt, attempts: 3 }, policy, 0)).toEqual({
    kind: "dead",
    reason: "attempts_exhausted",
  });
  expect(verdictAfterFailure({ ...attempt, retryable: false }, policy, 0)).toEqual({
    kind: "dead",
    reason: "not_retryable",
  });
});

test("anything thrown becomes text that can be stored", () => {
  class OutOfStock extends Error {}
  const hostile = {
    get message() {
      throw new Error("no");
    },
    toJSON() {
      throw new Error("no");
    },
  };
  expect(errorText(new TypeError("no address"))).toBe("TypeError: no address");
  expect(errorText(new OutOfStock("tea"))).toBe("OutOfStock: tea");
  expect(errorText("boom")).toBe("NonError: boom");
  expect(errorText(undefined)).toBe("NonError: undefined");
  expect(errorText({ code: 7 })).toBe('NonError: {"code":7}');
  expect(errorText(hostile)).toBe("NonError: a value that cannot be shown");
  expect(errorText(new Error("a\0b\ud800"))).toBe("Error: a\u{fffd}b\u{fffd}");
});

test("long text is cut at the limit and never inside a surrogate pair", () => {
  expect(storableText("x".repeat(10_000_000))).toHaveLength(4_096);
  expect(storableText("abc😀", 4)).toBe("abc");
  expect(storableText("abc😀", 5)).toBe("abc😀");
});
