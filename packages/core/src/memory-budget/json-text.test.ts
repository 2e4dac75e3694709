import { expect, test } from "vitest";
import { jsonText, writeJson } from "./json-text.ts";

test("texts of JSON are written as they are, in their places", () => {
  const page = {
    items: [{ payload: jsonText('{"a": [1.50]}') }, { payload: null }, { payload: jsonText("null") }],
    n: 1,
  };
  expect(writeJson(page)).toBe('{"items":[{"payload":{"a": [1.50]}},{"payload":null},{"payload":null}],"n":1}');
  expect(writeJson([jsonText('"$&"'), jsonText("2")])).toBe('["$&",2]');
});

test("without any it is what JSON.stringify writes", () => {
  const value = { a: [1, "x", null], at: new Date(0) };
  expect(writeJson(value)).toBe(JSON.stringify(value));
  expect(writeJson(undefined)).toBe(undefined);
});

test("what is written by others has the value", () => {
  expect(JSON.stringify({ payload: jsonText('{"a": 1}') })).toBe('{"payload":{"a":1}}');
});

test("a failure leaves nothing behind", () => {
  expect(() => writeJson([jsonText("1"), 1n])).toThrow(TypeError);
  expect(JSON.stringify(jsonText("[2]"))).toBe("[2]");
  expect(writeJson([jsonText("3")])).toBe("[3]");
});
