import { createLogger } from "@atlasqueue/core";
import { expect, test } from "vitest";
import type { ApiContext } from "../context.ts";
import { problemOf } from "./on-error.ts";

test.each(["22P05", "22021"])("a character that the database cannot store (%s) is the caller's fault", (code) => {
  const thrown = Object.assign(new Error("unsupported Unicode escape sequence"), { code, severity: "ERROR" });
  const problem = problemOf({ observe: () => {}, logger: createLogger("silent", "test") }, thrown, {} as ApiContext);
  expect([problem.kind, problem.message]).toEqual([
    "validation",
    "The database cannot store a character of the request",
  ]);
});
