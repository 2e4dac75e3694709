import { firstId } from "../ids.ts";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { bisectOnError, idAfter } from "./bisect-on-error.ts";
import { endedFlows, clearedResult, isCleared } from "../flows/keeping/ended-flows.ts";
import { asyncCommit } from "../database/clauses.ts";
import type { Deps } from "../deps.ts";
import { firstIdFromNow, walked, walkedPage, type Walked } from "./retention.ts";
import { type LoopDeps, takeTurn, retentionFailed } from "./loop.ts";

/**
 * `last` is the last id looked at, undefined when there was none; `more` when there may be others after it; `failed` is
 * why a job was passed over.
 */
export type Cleared = { jobs: number; last: string | undefined; more: boolean; failed?: unknown };

/**
 * succeeded → succeeded, without its result, when it finished longer ago than its own time or `ttl_seconds`, no job is still to hear
 * that it did, and no other of its flow may still ask for it. One of another flow, which waits for others besides, may:
 * it learns that the result is gone. A step looks at `jobs_max` jobs in id order, with ids between `after` and `before`.
 * A job without a result is not written, so none is written twice.
 *
 * @example
 * const { last } = await clearResults(deps, 3_600, firstId, await firstIdFromNow(deps, -3_600), 500);
 */
export function clearResults(
  deps: Deps,
  ttl_seconds: number | undefined,
  after: string,
  before: string,
  jobs_max: number,
  which: Walked = "all",
): Promise<Cleared> {
  type Page = { looked_at: number; last: string | null; jobs: number };
  const takePage = async (rows: number): Promise<Cleared> => {
    const params = [after, before, rows, ttl_seconds ?? "", which];
    const [page] = await executeOn(deps.database)<Page>({ text, params });
    return { jobs: page?.jobs ?? 0, last: page?.last ?? undefined, more: page?.looked_at === rows };
  };
  return bisectOnError(deps, jobs_max, takePage, async (failed) => {
    return { jobs: 0, last: await idAfter(deps, after, walked[which]), more: true, failed };
  });
}

// No index may help here (decisions/2026-11-20-storage.md): a walk along the primary key, for all tenants. Locked rows
// are skipped until the next full pass.
const text = composed(
  "maintenance/clear-results",
  ["after", "before", "jobs_max", "ttl_seconds", "which"],
  `
  WITH ${walkedPage("$5")}, free AS MATERIALIZED (
    SELECT id, flow_id FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND status = 'succeeded' AND result IS NOT NULL AND NOT ${isCleared}
      AND finished_at < now() - make_interval(secs => coalesce(result_ttl_seconds, nullif($4::text, '')::float8))
      AND (has_children IS NULL OR (SELECT true FROM atlasqueue.flow_edges WHERE parent = jobs.id LIMIT 1) IS NULL)
    FOR NO KEY UPDATE SKIP LOCKED
  ), ${endedFlows("free")}, cleared AS (
    UPDATE atlasqueue.jobs SET result = ${clearedResult}
    WHERE id = ANY(ARRAY(SELECT id FROM ended)) AND status = 'succeeded' AND ${asyncCommit}
    RETURNING jobs.id
  )
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM cleared) AS jobs`,
);

const rows_max = 500;
/**
 * From one pass over all jobs to the next, across the whole fleet, for those that finished long after they were made.
 */
const full_pass_ms = 6 * 3_600_000;
/** Looked at again at every pass, so that jobs that finished this long after they were made are not missed. */
const overlap_seconds = 600;

/** Where the passes over the results are: each goes on there if the last one ended before its time. */
export type ResultsPlace = { after?: string; full_pass_at?: number; in_full_pass?: boolean };

/**
 * A pass over the results of jobs that succeeded long enough ago, as a step to be called until it says false: those that
 * have come of age since the last pass, and every six hours all that were skipped because they had not finished yet. With `own`, over
 * those of all jobs with times of their own, each time.
 *
 * @example
 * const step = resultsStep(deps, 3_600, removed, place);
 * while (await step());
 */
export function resultsStep(
  deps: LoopDeps,
  ttl_seconds: number | undefined,
  removed: { results: number },
  place: ResultsPlace,
  which: Walked = "all",
): () => Promise<boolean> {
  let ends: { before: string; again: string } | undefined;

  const begin = async (ttl: number) => {
    if (which === "own") return { again: firstId, before: await firstIdFromNow(deps, 0) };
    const { full_pass_at = -Infinity, in_full_pass = false } = place;
    // One that takes longer goes on: begun anew each time, it would never reach its end.
    const is_due = !in_full_pass && performance.now() - full_pass_at >= full_pass_ms;
    // Without Redis every worker has the turn, every time.
    if (is_due && (await takeTurn(deps, "results", full_pass_ms))) {
      place.in_full_pass = true;
      place.full_pass_at = performance.now();
      place.after = firstId;
    }
    const again = await firstIdFromNow(deps, -ttl - overlap_seconds);
    place.after ??= again;
    return { again, before: await firstIdFromNow(deps, -ttl) };
  };

  return async () => {
    if (ttl_seconds === undefined && which === "all") return false;
    ends ??= await begin(ttl_seconds ?? 0);
    const { after = firstId } = place;
    const { jobs, last, more, failed } = await clearResults(deps, ttl_seconds, after, ends.before, rows_max, which);
    if (failed) retentionFailed(deps, "results", failed, last);
    removed.results += jobs;
    place.after = more ? (last ?? after) : ends.again;
    if (!more) place.in_full_pass = false;
    return more;
  };
}
