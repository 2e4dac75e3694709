import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testDatabase } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { madeUpRun } from "../../test/made-up-run.ts";
import { installAudit } from "../audit/install-audit.ts";
import { check } from "../check/check.ts";
import { openHistory } from "../history/open-history.ts";
import { figuresOf } from "./figures.ts";
import { judge, publish } from "./judge.ts";
import { markdownOf } from "./markdown.ts";

test("a job that a killed worker had done is a duplicate when another does it again, and its recovery is timed", async () => {
  const run = madeUpRun();
  run.submit("x").move("job-x", "running");
  run
    .fault("process-killed", ["worker-1"], () => void run.handle("x").pass(3_000))
    .lose("x")
    .work("x");
  const facts = await run.facts();
  const figures = figuresOf(facts, check(facts));
  expect(figures).toMatchObject({
    jobs: 1,
    ends: { succeeded: 1 },
    submits: { created: 1 },
    handler_runs: 2,
    duplicates: 1,
    lost_leases: 1,
    faults: { "process-killed": 1 },
  });
  expect(figures.recovery_ms?.max).toBeGreaterThan(2_999);
});

test("the page names what was violated and shows the evidence", async () => {
  const run = madeUpRun();
  run.submit("x");
  const facts = await run.facts();
  const findings = check(facts);
  const page = markdownOf([{ figures: figuresOf(facts, findings), findings }]);
  expect(page).toContain("| acknowledged-ends | 1 |");
  expect(page).toContain("- job-x: x is queued at attempt 0 and nothing explains why");
});

test("several seeds have a column for all of them, and what was excused is counted by kind", async () => {
  const judged = await Promise.all(
    ["x", "y"].map(async (nonce) => {
      const run = madeUpRun();
      run.submit(nonce).move(`job-${nonce}`, "running");
      run.fault("process-killed", ["worker-1"], () => void run.pass(3_500)).lose(nonce);
      const facts = await run.work(nonce).facts();
      const findings = check(facts);
      return { figures: figuresOf(facts, findings), findings };
    }),
  );
  const page = markdownOf(judged);
  expect(page).toContain("| seed | 1 | 1 | all |");
  expect(page).toContain("| jobs | 1 | 1 | 2 |");
  expect(page).toContain("| faults: process-killed | 1 | 1 | 2 |");
  expect(page).toContain("| attempts-seen: its process died or stood still | 1 | 1 | 2 |");
  expect(page).toContain("| acknowledged-ends | 0 | 0 | 0 |");
});

test("a folder and a database are judged, and the figures written", async () => {
  const folder = mkdtempSync(join(tmpdir(), "judged-"));
  const own = await testDatabase();
  try {
    await installAudit(own.database.sql);
    const history = openHistory(folder, "rig");
    const settings = { lease_ms: 1, sweep_ms: 1, backoff_ms_max: 1, wall_ms: Date.now() };
    history.invoke("run", { seed: 7, minutes: 1, commit: "c0ffee", ...settings });
    const judged = await judge(folder, own.database.sql, []);
    expect(judged.findings.filter(({ violations }) => violations > 0).map(({ name }) => name)).toEqual(["run-whole"]);
    publish(folder, [judged]);
    expect(readFileSync(join(folder, "figures.md"), "utf8")).toContain("c0ffee");
    expect(JSON.parse(readFileSync(join(folder, "figures.json"), "utf8"))).toMatchObject([{ figures: { seed: 7 } }]);
  } finally {
    await own.drop();
    rmSync(folder, { recursive: true });
  }
});
