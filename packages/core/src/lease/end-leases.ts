import { composed } from "../database/composed.ts";
import { lockFreeOnes } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/** `locked` of its jobs keep their leases, as another transaction has their rows locked: repeat it. */
export type LeasesEnded = { ended: number; locked: number };

/**
 * running → running, with a lease that ends now: for all jobs of a worker whose process has ended, as seen by the
 * process that started it. The next sweep recovers them.
 *
 * @example
 * const { ended } = await endLeases(deps, worker_id);
 */
export async function endLeases(deps: Pick<Deps, "database">, worker_id: string): Promise<LeasesEnded> {
  const [answer] = await executeOn(deps.database)<LeasesEnded>({ text: end, params: [worker_id] });
  return answer ?? { ended: 0, locked: 0 };
}

const end = composed(
  "lease/end-leases",
  ["worker_id"],
  `
  WITH batches AS MATERIALIZED (
    SELECT token, job_ids FROM atlasqueue.claims WHERE worker_id = $1 FOR UPDATE SKIP LOCKED
  ), running AS MATERIALIZED (
    SELECT batches.token, jobs.id
    FROM batches CROSS JOIN LATERAL unnest(batches.job_ids) AS member(id) JOIN atlasqueue.jobs ON jobs.id = member.id
    WHERE jobs.lease_token = batches.token AND jobs.status = 'running' AND jobs.locked_until > now()
  ), ${lockFreeOnes("running")}, ended AS (
    UPDATE atlasqueue.jobs SET locked_until = now() FROM free
    WHERE jobs.id = free.id AND jobs.lease_token = free.token AND jobs.status = 'running' AND jobs.locked_until > now()
    RETURNING jobs.id, free.token
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = now() WHERE token = ANY(ARRAY(SELECT token FROM ended))
  )
  SELECT (SELECT count(*)::int FROM ended) AS ended,
         (SELECT count(*)::int FROM running WHERE id NOT IN (SELECT id FROM ended)) AS locked`,
);
