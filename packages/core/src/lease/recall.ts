import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { allTenants, type VanishedWorker } from "../signal/presence.ts";
import { lockFreeOnes } from "../database/skip-locked.ts";

/** `open` is how many of its jobs keep their leases for now; there may be more if `batches` reaches the limit. */
export type Recalled = { recalled: number; open: number; batches: number };

/**
 * running → running, with a lease that ends now: for those jobs of a worker silent in Redis that were not renewed for
 * `quiet_seconds` either. It only ends leases: `recoverExpired` takes the jobs back, and a renewal before that keeps
 * them, so a worker that is alive after all loses nothing by this alone.
 *
 * @example
 * const { recalled } = await recallLeases(deps, worker, 5, 50);
 */
export async function recallLeases(
  deps: Deps,
  worker: VanishedWorker,
  quiet_seconds: number,
  batches_max: number,
): Promise<Recalled> {
  const params = [worker.id, worker.tenant, worker.lease_seconds - quiet_seconds, batches_max];
  const [answer] = await executeOn(deps.database)<Recalled>({ text: recall, params });
  const { recalled, open, batches } = answer ?? { recalled: 0, open: 0, batches: 0 };
  if (recalled > 0) deps.observe({ event: "worker_vanished", worker_id: worker.id, leases: recalled });
  return { recalled, open, batches };
}

// A renewal gives a full lease, so the time left shows how long ago the last one was.
const recall = composed(
  "lease/recall",
  ["worker_id", "tenant", "lease_seconds_left", "claims_max"],
  `
  WITH batches AS MATERIALIZED (
    SELECT token, job_ids FROM lease_batches WHERE worker_id = $1 ORDER BY check_at LIMIT $4::int FOR UPDATE SKIP LOCKED
  ), running AS MATERIALIZED (
    SELECT batches.token, jobs.id
    FROM batches CROSS JOIN LATERAL unnest(batches.job_ids) AS member(id) JOIN jobs ON jobs.id = member.id
    WHERE jobs.lease_token = batches.token AND jobs.status = 'running' AND ($2 = '${allTenants}' OR jobs.tenant = $2)
  ), ${lockFreeOnes("running")}, ended AS (
    UPDATE jobs SET locked_until = now() FROM free
    WHERE jobs.id = free.id AND jobs.lease_token = free.token AND jobs.status = 'running'
      AND ($2 = '${allTenants}' OR jobs.tenant = $2) AND jobs.locked_until > now() AND jobs.locked_until <= now() + make_interval(secs => $3::float8)
    RETURNING jobs.id, free.token
  ), sooner AS (
    UPDATE lease_batches SET check_at = now() WHERE token = ANY(ARRAY(SELECT token FROM ended))
  )
  SELECT (SELECT count(*)::int FROM ended) AS recalled, (SELECT count(*)::int FROM batches) AS batches,
         (SELECT count(*)::int FROM running WHERE id NOT IN (SELECT id FROM ended)) AS open`,
);
