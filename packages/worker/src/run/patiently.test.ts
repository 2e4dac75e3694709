import { DatabaseTimeoutError } from "@atlasqueue/core";
import { expect, test } from "vitest";
import { abort, lazyAbort } from "./lazy-abort.ts";
import { patiently } from "./patiently.ts";

const late = new DatabaseTimeoutError(10_000);
const observe = () => {};

test("a question that is late three times, while the database answers others, ends the attempt", async () => {
  const pulse = { answered_at: -Infinity };
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    pulse.answered_at = performance.now();
    throw late;
  };
  await expect(patiently({ database: { pulse }, observe }, "parents", lazyAbort(), ask)).rejects.toBe(late);
  expect(asked).toBe(3);
});

test("while the database answers nothing, a question is repeated until the attempt is over", async () => {
  const lazy = lazyAbort();
  const over = new Error("the lease was lost");
  let asked = 0;
  const ask = async (): Promise<never> => {
    asked += 1;
    if (asked === 5) abort(lazy, over);
    throw late;
  };
  const pulse = { answered_at: -Infinity };
  await expect(patiently({ database: { pulse }, observe }, "parents", lazy, ask)).rejects.toBe(over);
  expect(asked).toBe(5);
});
