import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { staleQuotes } from "./quotes.ts";

const read = (file: string) => readFileSync(fileURLToPath(new URL(`../../../../${file}`, import.meta.url)), "utf8");

test("the pages quote the figures of the results", () => {
  expect(staleQuotes(read)).toEqual([]);
});

test("a page with figures of another commit, or of none, is named", () => {
  const changed = (file: string) => (file === "README.md" ? "1 job, commit `0123456`" : read(file));
  expect(staleQuotes(changed)).toEqual([
    expect.stringMatching(/^README.md quotes figures of 0123456; apps\/bench\/RESULTS.md is of [0-9a-f]{7}$/),
  ]);
  const silent = (file: string) => (file.endsWith("sizing.md") ? "1 job" : read(file));
  expect(staleQuotes(silent)).toEqual([expect.stringContaining("sizing.md quotes figures and names no commit")]);
});
