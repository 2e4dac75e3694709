import { clearResults } from "./clear-results.ts";
import { firstId } from "./prune.ts";
import { firstIdAt } from "./retention.ts";
import { pause } from "../pause.ts";
import type { LoopDeps } from "./loop-deps.ts";
import { takeTurn } from "./take-turn.ts";

const rows_max = 500;
const rest_ms_min = 20;
/** Over the whole fleet: from one pass over all jobs to the next, for those that finished long after they were made. */
const full_pass_ms = 6 * 3_600_000;
/** Looked at again at every pass: jobs that finished so long after they were made are not passed over. */
const overlap_ms = 600_000;

/**
 * Clears the results of jobs that succeeded long enough ago: at each call those that have come of age since the last
 * one, and every six hours all that were passed over because they had not finished yet.
 */
export function createResultClearer(deps: LoopDeps, ttl_seconds: number | undefined, stop: AbortSignal) {
  let reached: string | undefined;
  let full_pass_at = -Infinity;

  return async (): Promise<void> => {
    if (ttl_seconds === undefined) return;
    const of_age = Date.now() - ttl_seconds * 1_000;
    // Without Redis every worker has the turn, each time.
    const full = performance.now() - full_pass_at >= full_pass_ms && (await takeTurn(deps, "results", full_pass_ms));
    if (full) full_pass_at = performance.now();
    let after = full ? firstId : (reached ?? firstIdAt(new Date(of_age - overlap_ms)));
    const before = firstIdAt(new Date(of_age));
    let jobs = 0;
    for (let more = after < before; more && !stop.aborted;) {
      const started = performance.now();
      const step = await clearResults(deps, ttl_seconds, after, before, rows_max);
      jobs += step.jobs;
      after = step.last ?? after;
      more = step.more;
      await pause(Math.max(rest_ms_min, 2 * (performance.now() - started)), stop);
    }
    if (!stop.aborted) reached = firstIdAt(new Date(of_age - overlap_ms));
    if (jobs > 0) deps.observe({ event: "results_cleared", jobs });
  };
}
