import { expect, test } from "vitest";
import { storableResult } from "./storable.ts";

const told = (value: unknown): string => {
  const checked = storableResult(value);
  return checked.kind === "refused" ? String((checked.reason as Error).message) : JSON.stringify(checked.result);
};

const circle: unknown[] = [];
circle.push(circle);

test.each([
  ["NaN", Number.NaN, "the result at / is NaN"],
  ["an infinite number", { sum: [1, Number.NEGATIVE_INFINITY] }, "the result at /sum/1 is -Infinity"],
  ["a Map", new Map([[1, 2]]), "is a Map"],
  ["a Set inside", { a: new Set([1]) }, "the result at /a is a Set"],
  ["an Error", new TypeError("no"), "is an Error"],
  ["a RegExp", [/x/], "/0 is a RegExp"],
  ["a promise nobody awaited", { user: Promise.resolve(1) }, "/user is a Promise"],
  ["a function in a list", [() => 1], "/0 is a function"],
  ["a function in an object", { run: () => 1 }, "/run is a function"],
  ["a symbol", [Symbol("x")], "/0 is a symbol"],
  ["a Date without a time", { at: new Date(Number.NaN) }, "/at is a Date without a time"],
  ["a function", () => 1, "a function cannot be stored"],
  ["a BigInt", { n: 1n }, "BigInt"],
  ["a circle", circle, "circular"],
  ["too much", "x".repeat(300_000), "at most 262144 are stored"],
  ["a NUL", { text: "\0" }, "/text must not contain the NUL"],
])("%s is reported", (_name, value, says) => {
  expect(told(value)).toContain(says);
});

class Money {
  readonly cents = 5;
  readonly currency = undefined;
}

test.each([
  ["nothing", undefined, null],
  ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["an object of a class, by its fields", new Money(), { cents: 5 }],
  ["an object with its own toJSON", { toJSON: () => ({ map: 1 }) }, { map: 1 }],
  ["a URL", new URL("http://a.b/"), "http://a.b/"],
  ["a member that is undefined, which JSON leaves out", { a: undefined, b: 1 }, { b: 1 }],
  ["bytes, as Node writes them", Buffer.from("a"), { type: "Buffer", data: [97] }],
])("%s is stored", (_name, value, result) => {
  expect(storableResult(value)).toMatchObject({ kind: "storable", result });
});

test("a value whose own code throws is refused, and nothing crashes", () => {
  const hostile = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("hostile");
      },
    },
  );
  expect(told({ hostile })).toContain("hostile");
});
