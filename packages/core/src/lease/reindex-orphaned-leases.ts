import { composed } from "../database/composed.ts";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * How many jobs are running without a claim's row, so that no sweep would look at them when their leases end. Exact,
 * from one snapshot: what the kept counts say is running, less what is found through the claims. Its cost grows with
 * the running jobs.
 *
 * @example
 * if ((await countOrphanedLeases(deps)) > 0) await reindexOrphanedLeases(deps, firstId, 5_000);
 */
export async function countOrphanedLeases(deps: Pick<Deps, "database">): Promise<number> {
  const [row] = await executeOn(deps.database)<{ strays: number }>({ text: count, params: [] });
  return row?.strays ?? 0;
}

// Claim by claim: as a join it would be planned for the average claim, whatever its size.
const count = `
  SELECT ((SELECT coalesce(sum(running), 0) FROM (
             SELECT running FROM atlasqueue.queue_counts UNION ALL SELECT running FROM atlasqueue.queue_changes) AS known)
          - (SELECT coalesce(sum((SELECT count(*) FROM atlasqueue.jobs WHERE jobs.id = ANY(job_ids) AND status = 'running'
                                  AND lease_token = claims.token)), 0) FROM atlasqueue.claims))::float8 AS strays`;

/** `next` is where the following step goes on; undefined when all jobs have been looked at. */
export type Adopted = { adopted: number; next: string | undefined };

/**
 * Give running jobs without a claim's row a row again: an asynchronous standby that took over lacks what it had not
 * received, perhaps a settlement whose claim was already cleared away. From then on the sweep treats them like any
 * other whose lease ends. A step looks at `jobs_max` jobs in id order, as no index lists the running ones.
 */
export async function reindexOrphanedLeases(deps: Deps, after: string, jobs_max: number): Promise<Adopted> {
  const [row] = await executeOn(deps.database)<{ adopted: number; looked_at: number; last: string | null }>({
    text: adopt,
    params: [after, jobs_max],
  });
  const { adopted, looked_at, last } = row ?? { adopted: 0, looked_at: 0, last: null };
  if (adopted > 0) deps.observe({ event: "orphaned_leases_recovered", count: adopted });
  return { adopted, next: looked_at === jobs_max ? (last ?? undefined) : undefined };
}

const adopt = composed(
  "lease/reindex-orphaned-leases",
  ["after", "jobs_max"],
  `
  WITH page AS MATERIALIZED (
    SELECT id, tenant, status, lease_token, worker_id, locked_until FROM atlasqueue.jobs WHERE id > $1::text::uuid AND ${lockTimeout} ORDER BY id LIMIT $2::int
  ), strays AS MATERIALIZED (
    SELECT tenant, lease_token AS token, coalesce(min(worker_id), '') AS worker_id, coalesce(min(locked_until), now()) AS check_at,
           array_agg(id) AS job_ids
    FROM page
    WHERE status = 'running' AND lease_token IS NOT NULL AND (
      SELECT page.id = ANY(job_ids) FROM atlasqueue.claims WHERE token = page.lease_token AND claims.tenant = page.tenant) IS NOT TRUE
    GROUP BY tenant, lease_token
  ), adopted AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids) SELECT tenant, token, worker_id, check_at, job_ids FROM strays
    ON CONFLICT (token, tenant) DO UPDATE SET job_ids = claims.job_ids || excluded.job_ids,
                                      check_at = least(claims.check_at, excluded.check_at)
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT max(id::text) FROM page) AS last,
         (SELECT coalesce(sum(cardinality(job_ids)), 0)::int FROM strays) AS adopted`,
);
