import { expect, test } from "vitest";
import { parseIdempotencyKey } from "./idempotency-text.ts";

test.each([
  ["order-17", "order-17"],
  ["  order-17\t", "order-17"],
  ['"order-17"', "order-17"],
  [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
  ["a, b", "a, b"],
  ['"a', '"a'],
  [String.raw`"a\b"`, String.raw`"a\b"`],
  ["x".repeat(512), "x".repeat(512)],
  [`"${"x".repeat(512)}"`, "x".repeat(512)],
])("the header %.30s is the key %.30s", (header, key) => {
  expect(parseIdempotencyKey(header)).toBe(key);
});

test.each(["", "   ", '""', '"  "', "x".repeat(513), "clé", "a\tb", "a\u007fb", "日本"])(
  "the header '%.30s' is no key",
  (header) => {
    expect(parseIdempotencyKey(header)).toBeUndefined();
  },
);
