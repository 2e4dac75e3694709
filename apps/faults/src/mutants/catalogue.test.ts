import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { catalogue } from "./catalogue.ts";
import { applied } from "./mutant.ts";

const engine = new URL("../../../../packages/core/src/", import.meta.url);

test.each(catalogue)("the engine is still such that it can be made worse: $name", ({ edits }) => {
  const sources = new Map<string, string>();
  for (const edit of edits) {
    const source = sources.get(edit.file) ?? readFileSync(new URL(edit.file, engine), "utf8");
    sources.set(edit.file, applied(edit, source));
  }
  expect(sources.size).toBeGreaterThan(0);
});

test("an edit that applies nowhere, or in two places, is refused", () => {
  const edit = { file: "a.ts", find: "a", put: "b" };
  expect(applied(edit, "cat")).toBe("cbt");
  expect(() => applied(edit, "dog")).toThrow("a.ts: 0 places instead of one");
  expect(() => applied(edit, "banana")).toThrow("a.ts: 3 places instead of one");
});
