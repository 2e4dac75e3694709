import { expect, test } from "vitest";
import { succeeded } from "./outcome.ts";
import { runAttempt } from "./run-attempt.ts";

test("the outcome is what the handler returns, or throws, or that it took too long", async () => {
  const reasons: Error[] = [];
  const limits = { timeout_seconds: 0.01, abort: (reason: Error) => void reasons.push(reason) };
  expect(await runAttempt(limits, async () => succeeded({ a: 1 }, undefined))).toEqual({
    kind: "succeeded",
    result: { a: 1 },
    bytes: 7,
  });
  expect(await runAttempt(limits, () => Promise.reject(new TypeError("no")))).toMatchObject({
    kind: "failed",
    error: "TypeError: no",
  });
  const endless = runAttempt(limits, (startClock) => {
    startClock();
    return new Promise(() => {});
  });
  expect(await endless).toMatchObject({ error: "TimeoutError: the handler ran longer than 0.01 s", retryable: true });
  expect(reasons).toHaveLength(1);
});
