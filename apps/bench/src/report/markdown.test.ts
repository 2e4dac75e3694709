import { expect, test } from "vitest";
import { renderMarkdown } from "./markdown.ts";
import type { Result, Row } from "./result.ts";

const row = (scenario: string, variant: string, unit: Row["unit"], median: number): Row => {
  return { scenario, variant, unit, rounds: [median], median };
};
const result: Result = {
  command: "pnpm bench",
  started_at: "2026-11-20T12:00:00.000Z",
  finished_at: "2026-11-20T12:10:00.000Z",
  machine: { cpu: "a processor", cores: 2, memory_gb: 4, system: "Linux" },
  versions: { Node: "24.0.0" },
  rounds: 1,
  jobs: 2_000,
  rows: [
    row("process", "atlasqueue", "per second", 51_234),
    row("process", "pg-boss", "per second", 24_321),
    row("idle, CPU", "atlasqueue", "% of a core", 0.4321),
  ],
  targets: [],
  failures: [],
};

test("comparable figures are side by side, the others in a list", () => {
  const page = renderMarkdown(result, { atlasqueue: "AtlasQueue", "pg-boss": "pg-boss" });
  expect(page).toContain(
    "|  | AtlasQueue | pg-boss |\n| --- | --- | --- |\n| process (per second) | 51,200 | 24,300 |",
  );
  expect(page).toContain("| idle, CPU | AtlasQueue | 0.43 % of a core |");
});
