import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FaultsConfig } from "./config.ts";
import { plan } from "./faults/plan.ts";
import { play, type Played } from "./faults/play.ts";
import { openHistory, type History } from "./history/open-history.ts";
import { backoff_ms_max, lease_ms, sweep_ms } from "./rig/cast.ts";
import { restore, settle } from "./rig/quiet.ts";
import { startRig, type Rig } from "./rig/rig.ts";
import { sample } from "./rig/samples.ts";

type Tell = (line: string) => void;

const sample_ms = 2_000;

/** Each seed in its turn; `ok` when every run ended as it should and the check found nothing. */
export async function run(config: FaultsConfig, tell: Tell, signal: AbortSignal): Promise<{ ok: boolean }> {
  let ok = true;
  for (const seed of config.seeds) {
    if (signal.aborted) break;
    tell(`seed ${seed}: ${(config.load_ms / 1_000).toFixed(0)} s of load and faults`);
    const findings = await runSeed(seed, config, tell, signal);
    for (const finding of findings) tell(`seed ${seed}: ${finding}`);
    ok &&= findings.length === 0;
  }
  return { ok };
}

/** What is wrong, one line each. */
async function runSeed(seed: number, config: FaultsConfig, tell: Tell, signal: AbortSignal): Promise<string[]> {
  const folder = join(config.folder, `seed-${seed}`);
  const historyFolder = join(folder, "history");
  mkdirSync(folder, { recursive: true });
  const history = openHistory(historyFolder, "rig");
  const told = history.invoke("run", {
    seed,
    minutes: config.load_ms / 60_000,
    commit: commit(),
    lease_ms,
    sweep_ms,
    backoff_ms_max,
    wall_ms: Date.now(),
  });
  const { rate, synchronous } = config;
  const rig = await startRig({ folder, history, historyFolder, seed, rate, synchronous });
  try {
    const planned = plan(seed, config.load_ms, rig.parts);
    writeFileSync(join(folder, "plan.json"), `${JSON.stringify(planned, null, 2)}\n`);
    await underLoad(rig, config, () => play(rig, planned, { history, tell, signal }), history, signal);
    const late = await quiet(rig, config, history, tell);
    told.ok({});
    return [...late, ...rig.processes.crashes];
  } finally {
    await rig.stop();
    history.close();
  }
}

async function underLoad(
  rig: Rig,
  { load_ms }: FaultsConfig,
  faults: () => Promise<Played[]>,
  history: History,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const sampling = (async () => {
    while (!over.signal.aborted) {
      await sample(rig, history);
      await delay(sample_ms, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  const time = delay(load_ms, undefined, { signal }).catch(() => {});
  await Promise.all([faults(), time]);
  over.abort();
  await sampling;
}

/** No faults and no load, until nothing is left to do; then everybody is told to end. */
async function quiet(rig: Rig, config: FaultsConfig, history: History, tell: Tell): Promise<string[]> {
  await restore(rig);
  tell("quiet");
  const begun = history.invoke("quiet", {});
  const left = await settle(rig, config.quiet_ms_max);
  const late: string[] = [];
  for (const role of ["remote", "worker", "api"] as const) late.push(...(await rig.processes.end(role, 30_000)));
  begun.ok({});
  tell(left === 0 ? "nothing is left to do" : `${left} jobs are left after ${config.quiet_ms_max / 1_000} s`);
  return late.map((name) => `${name} did not end when it was told to`);
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
