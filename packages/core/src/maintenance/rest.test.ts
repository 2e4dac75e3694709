import { expect, test } from "vitest";
import { pass_ms, restMs } from "./rest.ts";

test("the cleaner rests twice as long as a step took; once a pass takes longer than it should, a quarter of that", () => {
  expect([restMs(100, 0), restMs(100, pass_ms), restMs(100, pass_ms + 1)]).toEqual([200, 200, 50]);
});

test("it always rests a little", () => {
  expect([restMs(1, 0), restMs(1, pass_ms + 1)]).toEqual([20, 20]);
});
