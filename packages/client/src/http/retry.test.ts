import type { Problem } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import {
  AtlasQueueError,
  NetworkError,
  RateLimitError,
  TimeoutError,
  UnavailableError,
  UnderWayError,
} from "../errors.ts";
import { backoffMs, mayRepeat, nextTryInMs, parseRetryAfter } from "./retry.ts";

const broken = new NetworkError("x", { cause: undefined, refused: false });
const refused = new NetworkError("x", { cause: undefined, refused: true });
const answered = (status: number) => new AtlasQueueError("x", { status });

test("the wait grows with each try, with full jitter, up to 10 s", () => {
  expect([0, 1, 2, 9, 1_000].map((tries) => backoffMs(tries, 1))).toEqual([200, 400, 800, 10_000, 10_000]);
  expect(backoffMs(3, 0)).toBe(0);
});

test("a request that is safe to repeat is repeated whenever that may help", () => {
  for (const error of [broken, refused, new TimeoutError("x"), ...[429, 502, 503, 504].map(answered)])
    expect(mayRepeat(error, "always"), String(error)).toBe(true);
  expect(mayRepeat(new UnderWayError("x", { status: 409 }), "always")).toBe(true);
  for (const error of [...[400, 401, 404, 409, 422, 500].map(answered), new Error("a fault of ours")])
    expect(mayRepeat(error, "always"), String(error)).toBe(false);
});

test("one that is not is repeated only when the server did nothing", () => {
  const unavailable = (fields: Partial<Problem>) =>
    new UnavailableError("x", {
      status: 503,
      problem: { type: "/problems/unavailable", title: "", status: 503, detail: "", instance: "", ...fields },
    });
  for (const error of [refused, answered(429), unavailable({})]) expect(mayRepeat(error, "undone")).toBe(true);
  // A gateway says 503 of an API that it lost halfway, too.
  const unsure = [unavailable({ maybe_done: true }), unavailable({ type: "about:blank" }), answered(503)];
  for (const error of unsure) expect(mayRepeat(error, "always")).toBe(true);
  for (const error of [broken, new TimeoutError("x"), answered(502), answered(504), ...unsure])
    expect(mayRepeat(error, "undone")).toBe(false);
});

test("Retry-After is waited out in full, and one longer than the time left means no wait at all", () => {
  const error = new RateLimitError("x", { status: 429, retryAfterMs: 3_000 });
  const call = { repeat: "always" as const, tries: 1, retries: 5, left_ms: 60_000 };
  expect(nextTryInMs(error, call, 0)).toBe(3_000);
  expect(nextTryInMs(error, call, 1)).toBe(3_200);
  expect(nextTryInMs(error, { ...call, left_ms: 2_999 }, 0)).toBeUndefined();
});

test("a rest is no longer than the request allows, whatever the number of tries", () => {
  const error = new TimeoutError("x");
  const call = { repeat: "always" as const, tries: 9, retries: 9, left_ms: 60_000 };
  expect(nextTryInMs(error, call, 1)).toBe(10_000);
  expect(nextTryInMs(error, { ...call, rest_ms_max: 1_000 }, 1)).toBe(1_000);
});

test.each([
  ["7", 7_000],
  ["0", 0],
  ["1.5", 1_500],
  ["Fri, 20 Nov 2026 19:00:09 GMT", 9_000],
  ["Fri, 20 Nov 2026 18:00:00 GMT", 0],
  ["soon", undefined],
  ["-5", undefined],
  ["", undefined],
  [null, undefined],
])("a Retry-After of %j is %j ms", (header, ms) => {
  expect(parseRetryAfter(header, Date.parse("2026-11-20T19:00:00Z"))).toBe(ms);
});
