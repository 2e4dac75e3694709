import { expect, test } from "vitest";
import { detailWords } from "./words.ts";

test("the details of an act are words, without what is empty", () => {
  expect(detailWords({ type: "mail.send", rate: null, patched: false })).toBe("type mail.send");
  expect(detailWords({ created_by: "ops", paused: true, rate: { limit: 2 } })).toBe(
    'created by ops, paused, rate {"limit":2}',
  );
});
