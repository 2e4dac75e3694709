import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { publish } from "./publish.ts";
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

test("the figures of another commit take their places, and pages left as they were are named", () => {
  const row = { scenario: "process", variant: "atlasqueue", rounds: [51_234], median: 51_234 };
  const machine = { cpu: "a processor", cores: 2, memory_gb: 4, system: "Linux" };
  const at = "2026-12-01T12:00:00.000Z";
  const rows = [{ ...row, unit: "per second" as const }];
  const counts = { rounds: 1, jobs: 10, rows, targets: [], failures: [] };
  const measured = { command: "pnpm evidence", started_at: at, finished_at: at, machine, versions: {}, ...counts };
  const { texts, report } = publish(measured, "0123456", {}, read);
  expect(report).toContainEqual(expect.stringMatching(/^README.md:\d+ [\d,]+ → 51,200 \(process\)$/));
  expect(texts.get("README.md")).toContain("2026-12-01, commit `0123456`");
  expect(staleQuotes((file) => texts.get(file) ?? read(file))).toEqual([]);
  const forgotten = (file: string) => (file === "README.md" ? read(file) : (texts.get(file) ?? read(file)));
  expect(staleQuotes(forgotten)).toEqual([expect.stringMatching(/^README.md quotes figures of /)]);
});
