import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { simulate } from "./simulate.ts";

test("the guide's page has the figures of the simulation", () => {
  const page = readFileSync(new URL("../../../docs/pages/operate/many-cells.md", import.meta.url), "utf8");
  const lines = page.split("\n").map((line) => line.replaceAll(/ +/g, " "));
  const rows = simulate().flatMap((table) => table.rows.map(([what, value]) => `| ${what} | ${value} |`));
  expect(rows.filter((row) => !lines.includes(row))).toEqual([]);
});
