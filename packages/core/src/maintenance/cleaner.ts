import { isUnavailable } from "../database/errors.ts";
import { type Retention } from "./retention.ts";
import { forgetEmptyQueues } from "../counts/fold.ts";
import { forgetPastStarts } from "../limits/note-starts.ts";
import { firstId, prune, pruneKeys, pruneUniqueKeys } from "./prune.ts";
import { pause } from "../pause.ts";
import { forgetUndecidedQueues } from "../queues/forget-undecided.ts";
import { hint } from "../signal/announce.ts";
import type { LoopDeps } from "./loop-deps.ts";
import { createResultClearer } from "./clear-results.ts";
import { takeTurn } from "./take-turn.ts";

const rows_max = 500;
/** From one pass over the old jobs to the next, across the whole fleet. */
const pass_ms = 60_000;
const rest_ms_min = 20;

/**
 * Removes what has been kept long enough: finished jobs with their attempts, results, expired idempotency keys, unique
 * keys no job holds, starts no rate counts any more, and the totals of empty queues. In steps of a few hundred rows,
 * with rests twice as long as the steps, so that it does not show in anyone's latency.
 */
export async function clearAway(
  deps: LoopDeps,
  retention: Retention,
  result_ttl_seconds: number | undefined,
  stop: AbortSignal,
): Promise<void> {
  const clearOldResults = createResultClearer(deps, result_ttl_seconds, stop);
  while (!stop.aborted) {
    try {
      if (await takeTurn(deps, "prune", pass_ms)) {
        await passOver(deps, retention, stop);
        await clearOldResults();
      }
    } catch (error) {
      if (isUnavailable(error))
        deps.observe({ event: "database_unavailable", during: "retention", error: String(error) });
      else deps.logger.error({ err: error }, "retention_failed");
    }
    await pause(pass_ms, stop);
  }
}

async function passOver(deps: LoopDeps, retention: Retention, stop: AbortSignal): Promise<void> {
  let after: string | undefined = firstId;
  let keys_left = true;
  let starts_left = true;
  let jobs = 0;
  let keys = 0;
  while ((after !== undefined || keys_left || starts_left) && !stop.aborted) {
    const started = performance.now();
    if (after !== undefined) {
      const pruned = await prune(deps, retention, after, rows_max);
      if (pruned.dead.length > 0)
        await hint(deps.observe, "dead letters", () => deps.signal.deadLetters.remove(pruned.dead));
      after = pruned.next;
      jobs += pruned.jobs;
    }
    if (keys_left) {
      const gone = await pruneKeys(deps, rows_max);
      const unique = await pruneUniqueKeys(deps, rows_max);
      keys_left = gone === rows_max || unique === rows_max;
      keys += gone;
    }
    if (starts_left) starts_left = (await forgetPastStarts(deps, rows_max)) === rows_max;
    await pause(Math.max(rest_ms_min, 2 * (performance.now() - started)), stop);
  }
  await forgetEmptyQueues(deps, rows_max);
  await forgetUndecidedQueues(deps, rows_max);
  if (jobs + keys > 0) deps.observe({ event: "jobs_pruned", jobs, keys });
}
