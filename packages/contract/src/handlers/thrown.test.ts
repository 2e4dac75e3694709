import { expect, test } from "vitest";
import { DoNotRetryError, readThrown, RetryAfterError } from "../index.ts";

const no = () => {
  throw new Error("no");
};
const traps: ProxyHandler<object> = { get: no, getPrototypeOf: no, has: no, ownKeys: no, getOwnPropertyDescriptor: no };

test("a thrown value says whether and when to try again", () => {
  expect(readThrown(new TypeError("no address"))).toEqual({ error: "TypeError: no address", retryable: true });
  expect(readThrown(new DoNotRetryError("gone"))).toEqual({ error: "DoNotRetryError: gone", retryable: false });
  expect(readThrown(new RetryAfterError("busy", 40))).toEqual({
    error: "RetryAfterError: busy",
    retryable: true,
    delay_ms: 40,
  });
  expect(readThrown(new TypeError("a cycle"), "ResultError").error).toBe("ResultError: a cycle");
});

test("a value that throws whatever you ask it is a failure like any other", () => {
  const told = { error: "NonError: a value that cannot be shown", retryable: true };
  expect(readThrown(new Proxy({}, traps))).toEqual(told);
  expect(readThrown(new Proxy(() => {}, traps))).toEqual(told);
  expect(readThrown(new Proxy(new DoNotRetryError("gone"), traps), "ResultError")).toEqual(told);
});

test("an error whose parts throw, or are not what they should be, is read as far as possible", () => {
  const mute = Object.defineProperty(new RetryAfterError("busy", 40), "message", { get: no });
  expect(readThrown(mute, "ResultError")).toEqual({
    error: "ResultError: a value that cannot be shown",
    retryable: true,
    delay_ms: 40,
  });
  for (const delay_ms of ["soon", NaN, -1, 1e300, { valueOf: no }]) {
    const odd = Object.defineProperty(new RetryAfterError("busy", 40), "delayMs", { value: delay_ms });
    expect(readThrown(odd).delay_ms).toBeUndefined();
  }
  const later = Object.defineProperty(new RetryAfterError("busy", 40), "delayMs", { get: no });
  expect(readThrown(later).delay_ms).toBeUndefined();
});
