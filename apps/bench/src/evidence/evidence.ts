import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { titles } from "../bench.ts";
import { checkOutOne, findCommit } from "../compare/checkouts.ts";
import { createEnding, type Ending } from "../compare/ending.ts";
import { renderChart } from "../report/chart.ts";
import { renderMarkdown } from "../report/markdown.ts";
import { result, type Result } from "../report/result.ts";
import { mergeResults } from "./merge.ts";
import { programs, type Step } from "./steps.ts";

const faults_program = fileURLToPath(new URL(`../../../../${programs.faults}`, import.meta.url));

/** The steps that failed, where the figures are, and those of the bench as one result: none if no step of it has ended. */
type Gathered = { failed: string[]; kept: string; sha: string; whole: Result | undefined };

type Tell = (line: string) => void;

/** Which commit, which steps, and the folder whose subfolder of the commit's name keeps the figures. */
export type Evidence = { commit: string; steps: readonly Step[]; folder: string };

/**
 * Measure a commit, step by step, with its own bench and fault runs. A step whose file is there is not measured again,
 * so a stopped run goes on where it was. Each program removes its databases as it ends, and the histories of a seed go
 * once its figures are kept. Afterwards writes `bench.md`, `bench.svg` and `faults.md`. Throws a `CompareError` when there is no such commit or it can't be installed.
 *
 * @example
 * const { failed } = await gatherEvidence({ commit: "v1.0.0", steps, folder: "evidence" }, console.error);
 */
export async function gatherEvidence({ commit, steps, folder }: Evidence, tell: Tell): Promise<Gathered> {
  const found = await findCommit(commit);
  const kept = join(folder, found.sha.slice(0, 10));
  await mkdir(kept, { recursive: true });
  const missing = steps.filter(({ file }) => !existsSync(join(kept, file)));
  tell(`${kept}: ${steps.length - missing.length} of ${steps.length} steps are there`);
  for (const line of plan(missing)) tell(line);
  const failed: string[] = [];
  const ending = createEnding();
  try {
    const checkout = missing.length > 0 ? await checkOutOne(found, ending, tell) : "";
    for (const step of missing) {
      tell(`${step.name} …`);
      const started = performance.now();
      const measured = await measure(step, checkout, join(kept, step.file), ending);
      // A signal: the checkout is being removed, and this process ends after that.
      if (ending.hasBegun()) break;
      tell(
        `${step.name} ${measured ? "took" : "failed after"} ${((performance.now() - started) / 60_000).toFixed(1)} minutes`,
      );
      if (!measured) failed.push(step.name);
    }
  } finally {
    await ending.run();
  }
  return { failed, kept, sha: found.sha, whole: await report(kept, steps, found.sha.slice(0, 10)) };
}

/** How long each step takes, and all together; nothing where it is not known. */
function plan(steps: readonly Step[]): string[] {
  const known = steps.filter(({ minutes }) => minutes !== undefined);
  const all = known.reduce((sum, { minutes = 0 }) => sum + minutes, 0);
  const lines = known.map(({ name, minutes }) => `  ${name}: about ${minutes} minutes`);
  return lines.length > 0 ? [...lines, `together about ${(all / 60).toFixed(1)} hours`] : [];
}

/** The file appears only when the program has ended with 0: what was stopped half-way is measured again. */
async function measure({ program, args }: Step, checkout: string, file: string, ending: Ending): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "atlasqueue-evidence-"));
  ending.add(() => rm(folder, { recursive: true, force: true }));
  const written = join(folder, "figures.json");
  const child = spawn(process.execPath, [join(checkout, program), ...args(written, folder)], {
    cwd: checkout,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const closed = once(child, "close") as Promise<[number | null]>;
  // It removes its servers and their data first.
  ending.add(async () => void (child.kill() && (await closed)));
  const [code] = await closed;
  if (code !== 0) return false;
  await cp(written, `${file}.part`);
  await rename(`${file}.part`, file);
  await rm(folder, { recursive: true, force: true });
  return true;
}

async function report(kept: string, steps: readonly Step[], sha: string): Promise<Result | undefined> {
  const there = (of: string) =>
    steps
      .filter(({ program }) => program === of)
      .map(({ file }) => join(kept, file))
      .filter((file) => existsSync(file));
  const [bench, faults] = [there(programs.bench), there(programs.faults)];
  const measured = await Promise.all(bench.map(async (file) => result.parse(JSON.parse(await readFile(file, "utf8")))));
  const whole = measured.length > 0 ? mergeResults(measured, `pnpm evidence ${sha}`) : undefined;
  if (whole) {
    await writeFile(join(kept, "bench.md"), renderMarkdown(whole, titles));
    await writeFile(join(kept, "bench.svg"), await renderChart(whole.rows, titles));
  }
  if (faults.length > 0) {
    const { stdout } = await promisify(execFile)(process.execPath, [faults_program, "report", ...faults]);
    await writeFile(join(kept, "faults.md"), stdout);
  }
  return whole;
}
