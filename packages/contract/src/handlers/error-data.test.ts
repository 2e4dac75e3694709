import { expect, test } from "vitest";
import { errorData, readError } from "./error-data.ts";

const withData = (data: unknown) => Object.assign(new Error("x"), { data });

test("an error's data is what JSON makes of it", () => {
  expect(errorData(withData({ at: new Date(0), none: undefined }))).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  expect(errorData(withData(null))).toBe(null);
  expect(errorData(withData(["a", 1]))).toEqual(["a", 1]);
});

test("nothing else of an error is stored: a library's error may hold a request with its credentials", () => {
  expect(
    errorData(Object.assign(new Error("x"), { config: { headers: { authorization: "secret" } } })),
  ).toBeUndefined();
  expect(errorData({ data: 1 })).toBeUndefined();
  expect(errorData("text")).toBeUndefined();
});

test("data that cannot be stored is left out", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const hostile = Object.defineProperty(new Error("x"), "data", {
    get: () => {
      throw new Error("no");
    },
  });
  for (const error of [
    withData(circle),
    withData(1n),
    withData("\0"),
    withData(() => {}),
    withData("é".repeat(10_000)),
    hostile,
  ])
    expect(errorData(error)).toBeUndefined();
});

test("a stored error is split into its parts", () => {
  const parts = (last_error: string | null) => readError({ last_error, result: null });
  expect(parts("TypeError: no: address\nat all")).toEqual({ name: "TypeError", message: "no: address\nat all" });
  expect(parts("Ended without a colon")).toEqual({ name: "Error", message: "Ended without a colon" });
  expect(parts("two words: text")).toEqual({ name: "Error", message: "two words: text" });
  expect(parts(null)).toEqual({ name: "Error", message: "" });
  expect(readError({ last_error: "A: b", result: { error_data: [1] } })).toEqual({
    name: "A",
    message: "b",
    data: [1],
  });
});
