import { expect, test } from "vitest";
import { renderMarkdown } from "./markdown.ts";
import type { Result, Row } from "./result.ts";

const row = (scenario: string, variant: string, unit: Row["unit"], median: number): Row => {
  return { scenario, variant, unit, rounds: [median], median };
};
const costly = (one: Row, wal_fsyncs?: number): Row => {
  const costs = { client_us: 9.04, postgres_us: 11.5, redis_us: 0.612, waited_us: 3.3, wal_bytes: 812.4 };
  const median = { ...costs, ...(wal_fsyncs !== undefined && { wal_fsyncs }) };
  return { ...one, costs: { rounds: [median], median } };
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
    costly(row("process", "atlasqueue", "per second", 51_234), 0.0042),
    costly(row("process", "pg-boss", "per second", 24_321)),
    row("latency p50", "atlasqueue", "ms", 1.2),
    row("latency p50", "pg-boss", "ms", 2),
    costly(row("process, one group", "atlasqueue", "per second", 318), 1.01),
    { ...row("process, 1 queue", "atlasqueue", "per second", 40_000), curve: { name: "process", by: "queues", x: 1 } },
    { ...row("process, 9 queues", "atlasqueue", "per second", 30_000), curve: { name: "process", by: "queues", x: 9 } },
    row("idle, CPU", "atlasqueue", "% of a core", 0.4321),
    {
      ...row("soak: tables", "atlasqueue", "MB", 81),
      ageing: { half: 80, end: 81.2, growth: 0.0151, flat: true, samples: [1, 80, 81] },
    },
  ],
  targets: [],
  failures: [],
};
const page = renderMarkdown(result, { atlasqueue: "AtlasQueue", "pg-boss": "pg-boss" });

test("comparable figures are side by side, the others in a list", () => {
  expect(page).toContain("|  | AtlasQueue | pg-boss |\n| --- | --- | --- |\n| latency p50 (ms) | 1.20 | 2.00 |");
  expect(page).toContain("| idle, CPU | AtlasQueue | 0.43 % of a core |");
});

test("points of a curve are columns of a table, with what they are of the first", () => {
  const head = "### process, by queues\n\n| queues | 1 | 9 |";
  expect(page).toContain(`${head}\n| --- | --: | --: |\n| AtlasQueue, per second | 40,000 | 30,000 |`);
  expect(page).toContain("| AtlasQueue ÷ the first | 1.00 | 0.75 |");
});

test("what was watched over time has a table of its own that says whether it was flat", () => {
  expect(page).toContain("| soak: tables | MB | 80 | 81.2 | 1.5 % | flat |");
  expect(page).not.toContain("| soak: tables | AtlasQueue | 81 MB |");
});

test("what a job costs stands beside the rate, a table for each scenario", () => {
  const head =
    "|  | a second | AtlasQueue ÷ it | CPU, µs a job | client | PostgreSQL | Redis | waited, µs | WAL, bytes | fsyncs, 1,000 |";
  expect(page).toContain(`### process\n\n${head}`);
  expect(page).toContain("| AtlasQueue | 51,200 |  | 21.2 | 9.04 | 11.5 | 0.612 | 3.3 | 812 | 4.2 |");
  expect(page).toContain("| pg-boss | 24,300 | 2.11 | 21.2 | 9.04 | 11.5 | 0.612 | 3.3 | 812 | – |");
  expect(page).toContain("### AtlasQueue alone");
  expect(page).toContain("| process, one group | 318 | 21.2 | 9.04 | 11.5 | 0.612 | 3.3 | 812 | 1,010 |");
});
