import { isUnavailable } from "../database/errors.ts";
import { default_audit_hours, type Retention } from "./retention.ts";
import { forgetActs } from "../audit/forget.ts";
import { nameErrors } from "../dead-letters/name-errors.ts";
import { forgetReplays } from "../dead-letters/replays/forget.ts";
import { forgetEmptyQueues } from "../counts/fold.ts";
import { forgetPastStarts } from "../limits/note-starts.ts";
import { firstId, prune, pruneKeys, pruneUniqueKeys } from "./prune.ts";
import { pause } from "../pause.ts";
import { foldMinutes, forgetHours } from "../rollups/fold.ts";
import { inside_rows_max, writeRollups } from "../rollups/write.ts";
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
 * keys no job holds, starts no rate counts any more, the totals of empty queues, and figures over time, whose minutes become
 * hours first. In steps of a few hundred rows,
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
  let unnamed_left = true;
  let acts_left = true;
  let figures_left = true;
  let jobs = 0;
  let keys = 0;
  while (
    (after !== undefined || keys_left || starts_left || unnamed_left || acts_left || figures_left) &&
    !stop.aborted
  ) {
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
    if (acts_left)
      acts_left = (await forgetActs(deps, retention.audit_hours ?? default_audit_hours, rows_max)) === rows_max;
    if (unnamed_left) unnamed_left = (await nameErrors(deps, rows_max)) === rows_max;
    if (starts_left) starts_left = (await forgetPastStarts(deps, rows_max)) === rows_max;
    if (figures_left) {
      const folded = await foldMinutes(deps, rows_max);
      const gone = await forgetHours(deps, rows_max);
      // Those no process has counted, as none has anything of its own to write.
      const inside = await writeRollups(deps, [], 0);
      figures_left = folded === rows_max || gone === rows_max || inside === inside_rows_max;
    }
    await pause(Math.max(rest_ms_min, 2 * (performance.now() - started)), stop);
  }
  await forgetReplays(deps, rows_max);
  await forgetEmptyQueues(deps, rows_max);
  await forgetUndecidedQueues(deps, rows_max);
  if (jobs + keys > 0) deps.observe({ event: "jobs_pruned", jobs, keys });
}
