import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { FaultsConfig } from "./config.ts";
import { cards, plan } from "./faults/plan.ts";
import { play, type Played } from "./faults/play.ts";
import { openHistory, type History } from "./history/open-history.ts";
import { keepEvidence } from "./report/evidence.ts";
import { judge, publish } from "./report/judge.ts";
import { markdownOf, type Judged } from "./report/markdown.ts";
import { backoff_ms_max, lease_ms, sweep_ms } from "./rig/cast.ts";
import { restore, settle } from "./rig/quiet.ts";
import { startRig, type Rig } from "./rig/rig.ts";
import { sample } from "./rig/samples.ts";
import { watchWrites } from "./rig/slow-writes.ts";
import { secondOpinion } from "./second-opinion/second-opinion.ts";

type Tell = (line: string) => void;

const sample_ms = 2_000;

/** Each seed in its turn; `ok` when every run ended as it should and the check found nothing. */
export async function run(config: FaultsConfig, tell: Tell, signal: AbortSignal): Promise<{ ok: boolean }> {
  let ok = true;
  const all: Judged[] = [];
  for (const seed of config.seeds) {
    if (signal.aborted) break;
    tell(`seed ${seed}: ${(config.load_ms / 1_000).toFixed(0)} s of load and faults`);
    const { judged, wrong } = await runSeed(seed, config, tell, signal);
    if (judged) all.push(judged);
    // After each, for whoever loses patience.
    publish(config.folder, all);
    for (const line of wrong) tell(`seed ${seed}: ${line}`);
    ok &&= wrong.length === 0;
  }
  if (all.length > 0) process.stdout.write(`${markdownOf(all)}\n`);
  return { ok };
}

type Ran = { judged: Judged | undefined; wrong: string[] };

/** What it was worth, and what is wrong, one line each. */
async function runSeed(seed: number, config: FaultsConfig, tell: Tell, signal: AbortSignal): Promise<Ran> {
  const folder = join(config.folder, `seed-${seed}`);
  const historyFolder = join(folder, "history");
  // What an earlier run of this seed did there is no part of this one.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const history = openHistory(historyFolder, "rig");
  const told = history.invoke("run", {
    seed,
    minutes: config.load_ms / 60_000,
    commit: commit(),
    lease_ms,
    sweep_ms,
    backoff_ms_max,
    synchronous: config.synchronous,
    wall_ms: Date.now(),
  });
  const { rate, synchronous } = config;
  const rig = await startRig({ folder, history, historyFolder, seed, rate, synchronous });
  const over = new AbortController();
  const watching = watchWrites(rig, history, over.signal);
  try {
    const deck = cards.filter(({ name }) => config.faults?.includes(name) ?? true);
    const planned = plan(seed, config.load_ms, rig.parts, deck);
    writeFileSync(join(folder, "plan.json"), `${JSON.stringify(planned, null, 2)}\n`);
    await underLoad(rig, config, () => play(rig, planned, { history, tell, signal }), history, signal);
    if (signal.aborted) return { judged: undefined, wrong: ["it was stopped"] };
    const late = await quiet(rig, config, folder, { history, tell, signal });
    if (signal.aborted) return { judged: undefined, wrong: ["it was stopped"] };
    over.abort();
    await watching;
    told.ok({});
    const { judged, objections } = await judgeRun(rig, folder, historyFolder, synchronous);
    const { jobs, duplicates, stale_acks_refused: stale, recovery_ms: recovery } = judged.figures;
    tell(
      `${jobs} jobs, ${duplicates} run twice, ${stale} stale acks refused, recovery at most ${recovery?.max ?? 0} ms`,
    );
    return { judged, wrong: [...late, ...judged.findings.flatMap(linesOf), ...objections] };
  } finally {
    over.abort();
    await watching;
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
async function quiet(
  rig: Rig,
  config: FaultsConfig,
  folder: string,
  { history, tell, signal }: { history: History; tell: Tell; signal: AbortSignal },
): Promise<string[]> {
  const cut = history.invoke("fault", { fault: "all-links-cut", victims: rig.links.names() });
  await restore(rig);
  cut.ok({});
  tell("quiet");
  const begun = history.invoke("quiet", {});
  const left = await settle(rig, config.quiet_ms_max, signal);
  writeFileSync(join(folder, "left.json"), `${JSON.stringify(left, null, 2)}\n`);
  const late: string[] = [];
  for (const role of ["remote", "worker", "api"] as const)
    late.push(...(await rig.processes.end(role, 30_000, signal)));
  begun.ok({});
  tell(left.length === 0 ? "nothing is left to do" : `${left.length} jobs are left, or more`);
  return late.map((name) => `${name} did not end when it was told to`);
}

/** Both opinions. What a failover may lose, the second does not know. */
async function judgeRun({ postgres, redis }: Rig, folder: string, historyFolder: string, synchronous: boolean) {
  const dead = await redis.asAdmin((to) => to.lrange("atlasqueue:dlq", 0, -1));
  return postgres.asAdmin(async (sql) => {
    const judged = await judge(historyFolder, sql, dead);
    await keepEvidence(folder, sql, judged);
    const file = join(folder, "operations.jsonl");
    return { judged, objections: synchronous ? await secondOpinion(historyFolder, sql, file) : [] };
  });
}

const linesOf = ({ name, violations, first: [one] }: Judged["findings"][number]): string[] =>
  violations === 0 ? [] : [`${name}: ${violations}, such as ${one?.job ?? "the run"}: ${one?.evidence ?? ""}`];

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
