import { afterAPart, afterSome } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import type { FollowUps } from "../follow-ups.ts";
import { byMillisecond, countDead, deadByNow } from "./count.ts";
import { pageAfter, type DeadFilter, type DeadPage, type DeadPlace, pageParameters, pageParams } from "./pages.ts";
import { replay } from "./replay.ts";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { endedFlows } from "../flows/keeping/ended-flows.ts";
import { removeJobs } from "../jobs/remove.ts";
import { reachedFrom, takeDead } from "./take.ts";

type BulkDeps = Deps & { followUps: Pick<FollowUps, "retried" | "noLongerDead"> };
/** Ends a call between two steps: the caller is gone. */
type BulkOptions = { dry_run: boolean; stop?: AbortSignal };

/**
 * `matched` is how many dead letters the filter matched when the call came, `changed` how many of them it changed.
 * Fewer means that it ran out of time, or that some were locked: call again. A dry run also says whether `matched` is all
 * of them, and the latest death it counted: with it as `died_before`, a call leaves out what died since.
 */
export type BulkOutcome = { matched: number; changed: number; complete?: boolean; died_before?: string };

/** How long a call spends changing, and then counting what is left. */
const change_ms_max = 4_000;
const count_ms_max = 2_000;

/**
 * Replay the dead letters a filter matches, each step in its own transaction, and signal them. Bounded in time, so a
 * hundred thousand take a few calls. Throws when the database is away: what was replayed by then stays replayed.
 *
 * @example
 * const { matched, changed } = await replayAll(deps, { tenant: "default", queue: "mail" }, { dry_run: false });
 */
export function replayAll(deps: BulkDeps, filter: DeadFilter, options: BulkOptions): Promise<BulkOutcome> {
  return changeAll(deps, filter, options, async (page) => {
    const step = await replay(deps, page);
    if (step.ids.length > 0) await deps.followUps.retried({ ready: step.ready, were_dead: step.ids });
    return step;
  });
}

/** Remove the dead letters a filter matches, as `replayAll` replays them. */
export function purgeAll(deps: BulkDeps, filter: DeadFilter, options: BulkOptions): Promise<BulkOutcome> {
  return changeAll(deps, filter, options, async (page) => {
    const step = await purge(deps, page);
    await deps.followUps.noLongerDead(step.ids);
    return step;
  });
}

/** One step over a page. */
type Change = (page: DeadPage) => Promise<{ found: number; reached: DeadPlace | null; ids: readonly string[] }>;

async function changeAll(
  deps: BulkDeps,
  filter: DeadFilter,
  { dry_run, stop }: BulkOptions,
  change: Change,
): Promise<BulkOutcome> {
  const end = performance.now() + (dry_run ? 0 : change_ms_max);
  const dead = await deadByNow(deps, filter);
  const counted = byMillisecond(dead);
  let page = dry_run ? counted.page : dead;
  let found = 0;
  let changed = 0;
  try {
    while (page && performance.now() < end && !stop?.aborted) {
      const step = await change(page);
      found += step.found;
      changed += step.ids.length;
      page = pageAfter(page, step.reached);
    }
  } catch (error) {
    throw changed > 0 ? afterAPart(error) : error;
  }
  const by = performance.now() + (stop?.aborted ? 0 : count_ms_max);
  const left = await countDead(deps, page, by).catch(afterSome(changed > 0));
  if (dry_run) return { matched: left.count, changed, complete: left.complete, died_before: counted.died_before };
  // Never "all of them" without having looked.
  return { matched: Math.max(found + left.count, left.complete ? 0 : changed + 1), changed };
}

/** `found` is how many matched, `ids` those removed. */
export type Purged = { found: number; reached: DeadPlace | null; ids: string[] };

const rows_max = 500;

/**
 * dead → gone, with their attempts: one step over dead letters, longest dead first. Locked ones, and those of a flow that is not over, are found and skipped.
 * An idempotency key whose job is gone is free again, and is pruned in due course.
 *
 * @example
 * const { ids } = await purge(deps, page);
 */
export async function purge(deps: Deps, page: DeadPage): Promise<Purged> {
  const [row] = await executeOn(deps.database)<Omit<Purged, "ids"> & { ids: string[] | null }>({
    text,
    params: pageParams(page),
  });
  const ids = row?.ids ?? [];
  if (ids.length > 0) deps.observe({ event: "jobs_purged", tenant: page.tenant, count: ids.length });
  return { found: row?.found ?? 0, reached: row?.reached ?? null, ids };
}

const text = composed(
  "dead-letters/purge",
  pageParameters,
  `
  WITH ${takeDead(rows_max)}, ${endedFlows("taken")}, ${removeJobs("ended")}
  SELECT ${reachedFrom(rows_max)}, (SELECT json_agg(id) FROM gone) AS ids`,
);
