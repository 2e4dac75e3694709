import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { endedFlows } from "../flows/keeping/ended-flows.ts";
import { removeJobs } from "../jobs/remove.ts";
import { bisectOnError, idAfter } from "./bisect-on-error.ts";
import { firstIdFromNow, walked, walkedPage, type JobRetention, type Walked } from "./retention.ts";

/**
 * `next` is where the next step continues; undefined when the pass has reached jobs that are too young. `failed` is why a
 * job was passed over.
 */
export type Pruned = {
  jobs: number;
  dead: string[];
  next: string | undefined;
  failed?: unknown;
};

/**
 * succeeded | cancelled | dead → gone, with their attempts, when they finished longer ago than they are kept, and no
 * key that still holds names them, neither an idempotency key nor a unique one with a window, nor may come to. A step looks at
 * `jobs_max` jobs in id order, which is the order of creation, so that no index on the finishing time is needed. Jobs
 * that are kept, or of which a row is locked, or whose flow is not over, are skipped until the next pass, and so is one
 * that cannot be removed. With `own`, see `walked`. Several processes may do it at once.
 *
 * @example
 * const { next } = await prune(deps, retention, firstId, 1_000);
 */
export async function prune(
  deps: Deps,
  retention: JobRetention,
  after: string,
  jobs_max: number,
  which: Walked = "all",
): Promise<Pruned> {
  const youngest_hours = which === "own" ? 0 : Math.min(retention.succeededHours, retention.deadHours);
  const before = await firstIdFromNow(deps, -youngest_hours * 3_600);
  type Page = { looked_at: number; last: string | null; jobs: number; dead: string[] | null };
  const kept = [retention.succeededHours * 3_600, retention.deadHours * 3_600];
  const takePage = async (rows: number): Promise<Pruned> => {
    const params = [after, before, rows, ...kept, which];
    const [page] = await executeOn(deps.database)<Page>({ text, params });
    const next = page?.looked_at === rows ? (page.last ?? undefined) : undefined;
    return { jobs: page?.jobs ?? 0, dead: page?.dead ?? [], next };
  };
  return bisectOnError(deps, jobs_max, takePage, async (failed) => {
    return { jobs: 0, dead: [], next: await idAfter(deps, after, walked[which]), failed };
  });
}

/**
 * How long after the end of a unique key's time its job stays: a request may have seen it in time, be answered with it,
 * and note its idempotency key for it only now. Longer than a look and a statement can take.
 */
const answering_seconds_max = 60;
const answering = `now() - make_interval(secs => ${answering_seconds_max})`;

const isOver = `((status IN ('succeeded', 'cancelled') AND finished_at < now() - make_interval(secs => coalesce(retention_seconds, $4::float8)))
      OR (status = 'dead' AND finished_at < now() - make_interval(secs => coalesce(retention_seconds, $5::float8))))
      AND (kept_until IS NULL OR kept_until <= now())
      AND (unique_key IS NULL OR coalesce(unique_until, finished_at) <= ${answering})`;

const text = composed(
  "maintenance/prune",
  ["after", "before", "jobs_max", "succeeded_seconds", "dead_seconds", "which"],
  `
  WITH ${walkedPage("$6")}, free AS MATERIALIZED (
    SELECT id, flow_id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND ${isOver}
      AND NOT EXISTS (SELECT FROM atlasqueue.idempotency_keys AS known WHERE known.job_id = jobs.id AND is_alias AND expires_at > now())
    FOR UPDATE SKIP LOCKED
  ), ${endedFlows("free")}, ${removeJobs("ended")}
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM gone) AS jobs, (SELECT json_agg(id) FROM gone WHERE status = 'dead') AS dead`,
);
