import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { result } from "../report/result.ts";
import { gatherEvidence } from "./evidence.ts";
import { mergeResults } from "./merge.ts";
import { evidenceSteps, type Step } from "./steps.ts";

const made = (scenario: string, cpu = "one") =>
  result.parse({
    command: `pnpm bench --scenario ${scenario} --json file`,
    started_at: "2026-11-29T10:00:00.000Z",
    finished_at: "2026-11-29T10:01:00.000Z",
    machine: { cpu, cores: 2, memory_gb: 24, system: "Linux" },
    versions: {},
    rounds: 1,
    jobs: 10,
    rows: [{ scenario, variant: "atlasqueue", unit: "per second", rounds: [1], median: 1 }],
    targets: [],
    failures: [],
  });

test("results are merged in the order of the scenarios, and those of another machine are named", () => {
  const whole = mergeResults([made("process"), made("add-1"), made("add-50", "two")], "pnpm evidence abc");
  expect(whole.rows.map(({ scenario }) => scenario)).toEqual(["add-1", "add-50", "process"]);
  expect(whole.failures).toEqual([expect.stringContaining("--scenario add-50")]);
  expect(whole.command).toBe("pnpm evidence abc");
});

test("a whole measurement fits into an afternoon, and a stopped one loses little", () => {
  const minutes = evidenceSteps({ seeds: [], minutes: 30, quick: false }).map((step) => step.minutes ?? Infinity);
  expect(Math.max(...minutes)).toBeLessThanOrEqual(25);
  expect(minutes.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(210);
});

test(
  "a step is measured by the commit's own program, kept, and not measured again; one that fails is",
  { tags: ["nightly"] },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "atlasqueue-evidence-test-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const [add] = evidenceSteps({ seeds: [], minutes: 1, quick: true }) as [Step];
    const tiny = (file: string) => [...add.args(file, folder), "--variant", "bare-sql", "--jobs", "100"];
    const failing = { ...add, name: "failing", file: "bench-failing.json", args: () => ["--no-such-option"] };
    const steps = [{ ...add, args: tiny }, failing];
    const told: string[] = [];
    const gather = () => gatherEvidence({ commit: "HEAD", steps, folder }, (line) => void told.push(line));
    expect(await gather()).toMatchObject({ failed: ["failing"] });
    const [kept = ""] = await readdir(folder);
    const file = join(folder, kept, add.file);
    expect(result.parse(JSON.parse(await readFile(file, "utf8"))).rows).not.toEqual([]);
    expect(await readFile(join(folder, kept, "bench.md"), "utf8")).toContain(`pnpm evidence ${kept}`);

    await writeFile(join(folder, kept, failing.file), await readFile(file));
    told.length = 0;
    expect(await gather()).toMatchObject({ failed: [] });
    expect(told).toEqual([expect.stringContaining("2 of 2 steps are there")]);
    expect(existsSync(join(folder, kept, "faults.md"))).toBe(false);
  },
);
