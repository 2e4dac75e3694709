import { readFileSync } from "node:fs";
import { explanationCodes, overview } from "@atlasqueue/contract";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../../../apps/docs/pages/operate/troubleshooting.md", import.meta.url), "utf8");
/** The codes that begin the rows of a section's table. */
const rowsOf = (title: string) => {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
  return [...section.matchAll(/^\| (`[^|]*)\|/gm)].flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? []).toSorted();
};

test("the page on troubleshooting has a row for each reason why a job is not running", () => {
  expect(rowsOf("Why is my job not running?")).toEqual(explanationCodes.toSorted());
});

test("the page on troubleshooting has a row for each problem of the overview", () => {
  const codes = overview.shape.problems.element.shape.code.options;
  expect(rowsOf("Problems of the overview")).toEqual(codes.toSorted());
});
