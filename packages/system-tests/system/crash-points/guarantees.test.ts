import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { seams, signalSeams } from "./points.ts";

const page = readFileSync(new URL("../../../core/GUARANTEES.md", import.meta.url), "utf8");
const promises = page.split(/^## (?=\d+\. )/m).slice(1);

test("each of the nineteen promises has how it is kept, its tests and its points", () => {
  expect(promises.map((one) => Number.parseInt(one, 10))).toEqual(Array.from({ length: 19 }, (_, at) => at + 1));
  for (const promise of promises) {
    expect(promise).toMatch(/^- How: /m);
    expect(promise).toMatch(/^- Tests: \[[^\]]+\]\([^)]+\.test\.ts\)/m);
    expect(promise).toMatch(/^- Points: /m);
  }
});

test("the points that it names are points", () => {
  const named = promises.flatMap(
    (promise) => promise.slice(promise.indexOf("- Points: ")).match(/`[\w-]+\/[\w.-]+/g) ?? [],
  );
  const known = [...Object.keys(seams), ...signalSeams];
  expect(named.map((name) => name.slice(1)).filter((name) => !known.includes(name))).toEqual([]);
});
