import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnProcess } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { result } from "./report/result.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "atlasqueue-bench-test-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a tiny run gives figures, tables and a chart", { tags: ["nightly"] }, async () => {
  const file = (name: string) => join(folder, name);
  const measured = ["--scenario", "add-50,process", "--variant", "atlasqueue,graphile-worker,bare-sql"];
  const short = ["--rounds", "2", "--jobs", "200"];
  const written = ["--json", file("r.json"), "--markdown", file("r.md"), "--chart", file("r.svg")];
  const run = await spawnProcess(main, { args: [...measured, ...short, ...written] });
  expect(await run.waitForExit(200_000)).toMatchObject({ code: 0 });

  const made = result.parse(JSON.parse(await readFile(file("r.json"), "utf8")));
  expect(made.rows.map(({ scenario, variant }) => `${scenario}: ${variant}`)).toEqual([
    "add, 50 callers: atlasqueue",
    "add, 50 callers: graphile-worker",
    "add, 50 callers: bare-sql",
    "process: atlasqueue",
    "process: graphile-worker",
    "process: bare-sql",
  ]);
  for (const row of made.rows) {
    expect(row.rounds).toHaveLength(2);
    expect(row.median).toBeGreaterThan(0);
    expect(row.costs?.rounds).toHaveLength(2);
    expect(row.costs?.median.client_us).toBeGreaterThan(0);
    expect(row.costs?.median.postgres_us).toBeGreaterThan(0);
    expect(row.costs?.median.wal_bytes).toBeGreaterThan(0);
  }
  expect(made.targets.map(({ name }) => name)).toContain("single add, 50 callers ÷ graphile-worker");

  const page = await readFile(file("r.md"), "utf8");
  expect(page).toMatch(/\| process ÷ bare SQL \| [\d.]+ \| ≥ 0\.7 \| (met|\*\*not met\*\*) \|/);
  const chart = await readFile(file("r.svg"), "utf8");
  expect(chart).toMatch(/^<svg [\s\S]*<\/svg>\s*$/);
  expect(chart).toContain("graphile-worker");
});

test("what is measured over HTTP and in separate processes ends by itself", { tags: ["nightly"] }, async () => {
  const file = join(folder, "own.json");
  const measured = ["--scenario", "http-50,scale-out,memory,history", "--variant", "atlasqueue,pg-boss,bare-hono"];
  const short = [
    "--rounds",
    "1",
    "--jobs",
    "200",
    "--memory-jobs",
    "200",
    "--history-rows",
    "1000",
    "--backlog-rows",
    "200",
  ];
  const run = await spawnProcess(main, { args: [...measured, ...short, "--json", file] });
  expect(await run.waitForExit(200_000)).toMatchObject({ code: 0 });

  const made = result.parse(JSON.parse(await readFile(file, "utf8")));
  const alone = made.rows.filter(({ scenario }) => !/empty|full|finished/.test(scenario));
  expect(alone.map(({ scenario, variant }) => `${scenario}: ${variant}`)).toEqual([
    "HTTP submit, 50 connections: atlasqueue",
    "HTTP submit, 50 connections: bare-hono",
    "process, 1 worker process: atlasqueue",
    "process, 4 worker processes: atlasqueue",
    "process, 16 worker processes: atlasqueue",
    ...["worker", "api"].flatMap((process) =>
      [10, 50, 100].map((percent) => `${process} memory at ${percent} %: atlasqueue`),
    ),
  ]);
  for (const row of made.rows) expect(row.median).toBeGreaterThan(0);
  expect(made.targets.map(({ name }) => name)).toContain("process the backlog ÷ process on an empty table");
});

test("an unknown scenario is refused, listing those there are", async () => {
  const run = await spawnProcess(main, { args: ["--scenario", "fastest"] });
  expect(await run.waitForExit()).toMatchObject({ code: 1 });
  expect(run.errorLines.join("\n")).toContain("fastest is none of add-1, add-50");
});

test.each([
  [["--compare", "HEAD", "no-such-commit"], '"no-such-commit" is no commit of '],
  [["--compare", "HEAD"], "--compare takes two commits, not 1"],
  [["--compare", "HEAD", "HEAD", "--variant", "pg-boss"], "don't go with --compare"],
  [["--pairs", "9"], "--pairs goes with --compare only"],
])("%j is refused: %s", { tags: ["nightly"] }, async (args, reason) => {
  const run = await spawnProcess(main, { args });
  expect(await run.waitForExit()).toMatchObject({ code: 1 });
  expect(run.errorLines.join("\n")).toContain(reason);
});
