import { expect, test } from "vitest";
import { canonicalJson, findFaults, pointerSegment, showValue } from "./json.ts";

const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

test.each([
  ["a NUL in a text", { a: ["x\0"] }, "/a/0", "NUL"],
  ["a NUL in a key", { "a\0": 1 }, "/a\\u0000", "the key must not contain the NUL"],
  ["a lone surrogate", "\ud800", "", "surrogate"],
  ["a lone surrogate in a key", { "\udc00": 1 }, "/\ufffd", "surrogate"],
  ["a number too large for a double", JSON.parse("[1e400]"), "/0", "finite"],
  ["an integer that was rounded", JSON.parse('{"n":9007199254740993}'), "/n", "2^53"],
  ["a negative one", -(2 ** 53), "", "2^53"],
])("%s is found, and where", (_what, value, pointer, message) => {
  expect(findFaults(value)).toEqual([{ pointer, message: expect.stringContaining(message) as string }]);
});

test("what can be stored has no faults", () => {
  const fine = {
    text: "é😀\u2028",
    numbers: [0, -1.5, 2 ** 53 - 1, 1e15],
    none: null,
    yes: true,
    deep: nested(60),
  };
  expect(findFaults(fine)).toEqual([]);
});

test("nesting is allowed to the limit, and refused past it without a stack overflow", () => {
  expect(findFaults(nested(64))).toEqual([]);
  expect(findFaults(nested(65))).toHaveLength(1);
  const [fault] = findFaults(nested(200_000));
  expect(fault?.message).toContain("64 levels");
  expect(fault?.pointer.length).toBeLessThanOrEqual(200);
});

test("equal documents have equal canonical text, whatever the order of their keys", () => {
  const [one, other] = ['{"b":[1,{"d":1,"c":2.0}],"a":"x"}', '{"a":"x","b":[1.0,{"c":2,"d":1}]}'].map((text) =>
    canonicalJson(JSON.parse(text)),
  );
  expect(one).toBe('{"a":"x","b":[1,{"c":2,"d":1}]}');
  expect(other).toBe(one);
});

test("canonical text keeps arrays in order, drops undefined members and keeps __proto__", () => {
  expect(canonicalJson([2, 1])).toBe("[2,1]");
  expect(canonicalJson({ a: undefined, b: null })).toBe('{"b":null}');
  expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"x":1}}'))).toBe('{"__proto__":{"x":1},"b":1}');
});

test("pointers escape as RFC 6901 says, and cut long keys", () => {
  expect(pointerSegment("a/b~c")).toBe("a~1b~0c");
  expect(pointerSegment("x".repeat(100))).toBe(`${"x".repeat(64)}…`);
});

test("a value is shown on one line, cut", () => {
  expect(showValue("a\r\nb")).toBe(String.raw`"a\r\nb"`);
  expect(showValue(undefined)).toBe("nothing");
  expect(showValue("x".repeat(1_000)).length).toBe(101);
});

test("a document with thousands of bad keys, however deep, has a few faults of a few hundred characters", () => {
  const keys = Array.from({ length: 5_000 }, (_, at) => [`${at}\0`, 1]);
  expect(findFaults({ keys: Object.fromEntries(keys) })).toHaveLength(20);
  let deep: unknown = Array.from({ length: 30 }, () => "\0");
  for (let level = 0; level < 40; level += 1) deep = { [`${level} ${"k".repeat(60)}`]: deep };
  const faults = findFaults(deep);
  expect(faults).toHaveLength(20);
  for (const { pointer } of faults) expect(pointer.length).toBeLessThanOrEqual(200);
});
