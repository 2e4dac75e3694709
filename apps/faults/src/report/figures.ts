import type { Facts, Fault, HandlerRun, Story } from "../check/facts.ts";
import type { Finding } from "../check/check.ts";
import { leasesOf, ranUnder, type Held } from "../check/leases.ts";

/** What one run was, in numbers. */
export type Figures = {
  seed: number;
  minutes: number;
  commit: string;
  /** Jobs that were stored, and how they ended. */
  jobs: number;
  ends: Record<string, number>;
  /** Calls that submit, by what their callers know of them. */
  submits: Record<string, number>;
  handler_runs: number;
  /** Handlers that returned for a job that another run of it had done, or did, as well. */
  duplicates: number;
  /** Acks that came under a token that had been lost. */
  stale_acks_refused: number;
  lost_leases: number;
  kills: Record<string, number>;
  faults: Record<string, number>;
  /** From the blow to a program to the next claim, or the end, of a job it held. */
  recovery_ms: { p50: number; p99: number; max: number } | null;
  /** Each of them, the shortest first. */
  recoveries_ms: number[];
  violations: Record<string, number>;
  /** What the history showed to be no violation, by `invariant: kind`. */
  excused: Record<string, number>;
};

/**
 * @example
 * const figures = figuresOf(facts, check(facts));
 */
export function figuresOf(facts: Facts, findings: readonly Finding[]): Figures {
  const stories = [...facts.stories.values()];
  const { seed, minutes, commit } = facts.settings;
  const played = facts.faults.filter(({ played: was }) => was);
  const refused = facts.settles.filter(
    ({ answer, as }) => answer === "refused" && (as === "complete" || as === "fail"),
  );
  const recoveries: number[] = [];
  let [handler_runs, duplicates, lost_leases, late_returns] = [0, 0, 0, 0];
  for (const story of stories) {
    handler_runs += story.runs.length;
    duplicates += duplicatesOf(story);
    for (const lease of leasesOf(story)) {
      if (lease.end !== "lost") continue;
      lost_leases += 1;
      const run = story.runs.find((one) => ranUnder(one, lease));
      if (run && !run.remote && run.ended === "returned" && run.to_ms > lease.to_ms) late_returns += 1;
      const took_ms = recoveryMs(lease, run, facts.faults);
      if (took_ms !== undefined) recoveries.push(took_ms);
    }
  }
  return {
    seed,
    minutes,
    commit,
    jobs: stories.filter(({ moves }) => moves[0]?.was === null).length,
    ends: tally(stories.flatMap(({ moves }) => (moves.length === 0 ? [] : [moves.at(-1)?.status ?? "removed"]))),
    submits: tally(facts.submits.map(({ known, answers }) => outcomeOf(known, [...answers.values()]))),
    handler_runs,
    duplicates,
    stale_acks_refused: refused.length + late_returns,
    lost_leases,
    kills: tally(played.flatMap(({ signal }) => signal ?? [])),
    faults: tally(played.map(({ fault }) => fault)),
    recovery_ms: spread(recoveries),
    recoveries_ms: recoveries.map(Math.round).toSorted((a, b) => a - b),
    violations: Object.fromEntries(findings.map(({ name, violations }) => [name, violations])),
    excused: Object.fromEntries(
      findings.flatMap(({ name, excused }) =>
        Object.entries(excused).map(([kind, count]) => [`${name}: ${kind}`, count]),
      ),
    ),
  };
}

function outcomeOf(
  known: "ok" | "fail" | "info",
  answers: readonly { created?: boolean | undefined; refused?: string | undefined }[],
) {
  if (known !== "ok") return known === "fail" ? "not done" : "unknown";
  if (answers.some(({ refused }) => refused !== undefined)) return "refused";
  return answers.some(({ created }) => created) ? "created" : "known before";
}

/** A job that is replayed may succeed more than once. */
function duplicatesOf({ moves, runs }: Story): number {
  const returned = runs.filter(({ ended }) => ended === "returned").length;
  const succeeded = moves.filter(({ status }) => status === "succeeded").length;
  return Math.max(0, returned - Math.max(1, succeeded));
}

/** From the blow until the job was ready again, or dead. How long it then waited for its turn is the load's affair. */
function recoveryMs(lease: Held, run: HandlerRun | undefined, faults: readonly Fault[]): number | undefined {
  if (!run) return undefined;
  const blow = faults.find(
    ({ victims, from_ms, to_ms }) => victims.includes(run.process) && from_ms <= lease.to_ms && to_ms >= lease.from_ms,
  );
  return blow && lease.to_ms - Math.max(blow.from_ms, lease.from_ms);
}

/** Null, if there are none. */
export function spread(values: readonly number[]): Figures["recovery_ms"] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return sorted.length === 0 ? null : { p50: at(0.5), p99: at(0.99), max: at(1) };
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
