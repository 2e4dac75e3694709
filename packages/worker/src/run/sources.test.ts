import { DatabaseTimeoutError } from "@atlasqueue/core";
import { expect, test } from "vitest";
import { judgeOf } from "./sources.ts";

const late = new DatabaseTimeoutError(10_000);

test("a question that is late three times, while the database answers others, is not asked again", () => {
  const mayPass = judgeOf({ answered_at: 2 });
  expect([1, 1, 1].map((asked_at) => mayPass(late, asked_at))).toEqual([true, true, false]);
});

test("while the database answers nothing, a question is repeated", () => {
  const mayPass = judgeOf({ answered_at: -Infinity });
  expect([1, 1, 1, 1].map((asked_at) => mayPass(late, asked_at))).toEqual([true, true, true, true]);
  expect(mayPass(new Error("no such column"), 1)).toBe(false);
});
