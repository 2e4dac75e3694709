import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { seams, signalSeams } from "./points.ts";

const page = readFileSync(new URL("../../../core/GUARANTEES.md", import.meta.url), "utf8");
const guarantees = page.split(/^## (?=\d+\. )/m).slice(1);

test("each of the twelve guarantees has its mechanism, its tests and its points", () => {
  expect(guarantees.map((one) => Number.parseInt(one, 10))).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
  for (const guarantee of guarantees) {
    expect(guarantee).toMatch(/^- How: /m);
    expect(guarantee).toMatch(/^- Tests: \[[^\]]+\]\([^)]+\.test\.ts\)/m);
    expect(guarantee).toMatch(/^- Points: /m);
  }
});

test("the points that it names are points", () => {
  const named = guarantees.flatMap(
    (guarantee) => guarantee.slice(guarantee.indexOf("- Points: ")).match(/`[\w-]+\/[\w.-]+/g) ?? [],
  );
  const known = [...Object.keys(seams), ...signalSeams];
  expect(named.map((name) => name.slice(1)).filter((name) => !known.includes(name))).toEqual([]);
});
