import { expect, test } from "vitest";
import type { Json } from "../checks/json.ts";
import { mergePatch } from "./merge-patch.ts";

// The table of RFC 7396, appendix A.
const table: [Json, Json, Json][] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

test.each(table)("%j with %j is %j", (value, patch, merged) => {
  const before = structuredClone(value);
  expect(mergePatch(value, patch)).toEqual(merged);
  expect(value).toEqual(before);
  expect(mergePatch(merged, patch)).toEqual(merged);
});

test("a field called __proto__ is a field like any other", () => {
  const patched = mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}') as Json);
  expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":true}}');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
