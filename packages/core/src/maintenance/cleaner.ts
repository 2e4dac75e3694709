import { firstId } from "../ids.ts";
import { default_audit_hours, type Retention, type Walked } from "./retention.ts";
import { forgetActs } from "../audit/forget.ts";
import { reindexOrphanedLeases, countOrphanedLeases } from "../lease/reindex-orphaned-leases.ts";
import { forgetPastStarts } from "../limits/note-starts.ts";
import { forget } from "./forget.ts";
import { prune } from "./prune.ts";
import { pause } from "../pause.ts";
import { hint } from "../signal/announce.ts";
import { foldMinutes } from "../rollups/fold.ts";
import { bringBack, firstSchedule } from "../schedules/bring-back.ts";
import { type LoopDeps, takeTurn, retentionFailed } from "./loop.ts";
import { resultsStep, type ResultsPlace } from "./clear-results.ts";

const rows_max = 500;
/** Keys come at the rate of the jobs. */
const keys_max = 2_000;
/** From one pass over the old rows to the next, across the whole fleet. */
const pass_ms = 60_000;
const rest_ms_min = 20;
/** Jobs looked at in one step for those that run without a claim. */
const walked_max = 5_000;
/** Their next slots are reckoned here. */
const schedules_max = 50;
/** The same for what grows slowly, so that an idle system asks little. */
const slow_pass_ms = 600_000;

/** Removes some rows of one kind. True when more of them may be left. */
type Step = () => Promise<boolean>;
type Removed = { jobs: number; keys: number; results: number };

/**
 * Removes what has been kept long enough: finished jobs with their attempts, results, expired idempotency keys, starts
 * no rate counts any more, rows of empty queues; and now and then old acts and operations, and figures over
 * time, whose minutes become hours first. Brings back schedules that a clock sent ahead, and gives running
 * jobs that lost their claim a new one. In steps of a few hundred rows, and it rests for as long as a step took, so that
 * it does not show in anyone's latency. A pass ends when the next is due, which may be another process's. A part that
 * fails leaves the others alone.
 *
 * @example
 * await clearAway(deps, { succeededHours: 24, deadHours: 720 }, undefined, stop);
 */
export async function clearAway(
  deps: LoopDeps,
  retention: Retention,
  result_ttl_seconds: number | undefined,
  stop: AbortSignal,
): Promise<void> {
  const results: ResultsPlace = {};
  const ownResults: ResultsPlace = {};
  const places = { all: firstId, own: firstId };
  const pass = (period_ms: number, partsOf: (removed: Removed) => Record<string, Step>) => async () => {
    const removed = { jobs: 0, keys: 0, results: 0 };
    await passOver(deps, partsOf(removed), performance.now() + period_ms, stop);
    const { jobs, keys, results: cleared } = removed;
    if (jobs + keys > 0) deps.observe({ event: "jobs_pruned", jobs, keys });
    if (cleared > 0) deps.observe({ event: "results_cleared", jobs: cleared });
  };
  const quick = pass(pass_ms, (removed) => ({
    ...quickParts(deps, retention, removed, places),
    results: resultsStep(deps, result_ttl_seconds, removed, results),
    own_results: resultsStep(deps, result_ttl_seconds, removed, ownResults, "own"),
  }));
  const slow = pass(slow_pass_ms, () => slowParts(deps, retention));
  // Side by side: after a busy month a pass over what grows slowly takes long.
  await Promise.all([
    everyTurn(deps, "prune", pass_ms, stop, quick),
    everyTurn(deps, "prune-slow", slow_pass_ms, stop, slow),
  ]);
}

async function everyTurn(
  deps: LoopDeps,
  name: string,
  period_ms: number,
  stop: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const turn = async () => {
    if (await takeTurn(deps, name, period_ms)) await work();
  };
  while (!stop.aborted) {
    await turn().catch((error: unknown) => retentionFailed(deps, name, error));
    await pause(pass_ms * (1 + Math.random() / 10), stop);
  }
}

async function passOver(deps: LoopDeps, parts: Record<string, Step>, end: number, stop: AbortSignal): Promise<void> {
  const left = new Map(Object.entries(parts));
  while (left.size > 0 && performance.now() < end && !stop.aborted) {
    const started = performance.now();
    for (const [name, step] of left) {
      if (stop.aborted) return;
      const more = await step().catch((error: unknown) => retentionFailed(deps, name, error));
      if (!more) left.delete(name);
    }
    await pause(Math.max(rest_ms_min, performance.now() - started), stop);
  }
}

/** Goes from page to page: `take` gives the place where the next begins. */
function walk<Place>(first: Place, take: (after: Place) => Promise<Place | undefined>): Step {
  let after = first;
  return async () => {
    const next = await take(after);
    after = next ?? after;
    return next !== undefined;
  };
}

/** Walks over all jobs if the counts say that some are running without a claim. */
function straysStep(deps: LoopDeps): Step {
  let after: string | undefined;
  return async () => {
    if (after === undefined && (await countOrphanedLeases(deps)) <= 0) return false;
    after = (await reindexOrphanedLeases(deps, after ?? firstId, walked_max)).next;
    return after !== undefined;
  };
}

/** `places` are where the passes over the jobs are: each goes on there if the last one ended before its time. */
function quickParts(deps: LoopDeps, retention: Retention, removed: Removed, places: Record<Walked, string>) {
  const pruneStep = (which: Walked) => async () => {
    const { dead, jobs, next, failed } = await prune(deps, retention, places[which], rows_max, which);
    if (failed !== undefined) retentionFailed(deps, "jobs", failed, next);
    if (dead.length > 0) await hint(deps.observe, "dead letters", () => deps.signal.deadLetters.remove(dead));
    removed.jobs += jobs;
    places[which] = next ?? firstId;
    return next !== undefined;
  };
  return {
    jobs: pruneStep("all"),
    own_jobs: pruneStep("own"),
    keys: async () => {
      const keys = await forget(deps, "keys", keys_max);
      removed.keys += keys;
      return keys === keys_max;
    },
    starts: async () => (await forgetPastStarts(deps, rows_max)) === rows_max,
    rows: async () => (await forget(deps, "others", rows_max)) >= rows_max,
  } satisfies Record<string, Step>;
}

function slowParts(deps: LoopDeps, { auditHours = default_audit_hours }: Retention): Record<string, Step> {
  return {
    acts: async () => (await forgetActs(deps, auditHours, rows_max)) === rows_max,
    minutes: async () => (await foldMinutes(deps, rows_max)) >= rows_max,
    schedules: walk(firstSchedule, (after) => bringBack(deps, after, schedules_max)),
    strays: straysStep(deps),
  };
}
