import { composed } from "../database/composed.ts";
import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

export type CountDrift = {
  /** How many jobs there were; more than `jobs_max` means that nothing was compared. */
  jobs: number;
  /** In how many places the kept counts differ from the jobs. */
  places: number;
  /** The first 20 of these places. */
  drifted: (QueueRef & { status: JobStatus; kept: number; real: number })[];
};

/**
 * Compare the kept counts of all tenants with the jobs themselves, in one snapshot. Reads every job, so it gives up
 * when there are more than `jobs_max`.
 *
 * @example
 * const { drifted } = await countDrift(deps, 200_000);
 */
export async function countDrift(deps: Pick<Deps, "database">, jobs_max: number): Promise<CountDrift> {
  type Row = Pick<CountDrift, "jobs" | "places"> & { drifted: CountDrift["drifted"] | null };
  const [row] = await executeOn(deps.database)<Row>({ text: compare, params: [jobs_max] });
  return { jobs: row?.jobs ?? 0, places: row?.places ?? 0, drifted: row?.drifted ?? [] };
}

const columns = jobStatuses.join(", ");
const perStatus = jobStatuses.map((status) => `('${status}', ${status})`).join(", ");

const compare = composed(
  "counts/drift",
  ["jobs_max"],
  `
  WITH looked AS MATERIALIZED (SELECT tenant, queue, status FROM atlasqueue.jobs LIMIT $1::int + 1),
  total AS (SELECT count(*)::int AS jobs FROM looked),
  truth AS (SELECT tenant, queue, status, count(*) AS jobs FROM looked GROUP BY tenant, queue, status),
  kept AS (
    SELECT tenant, queue, status, sum(jobs) AS jobs
    FROM (SELECT tenant, queue, ${columns} FROM atlasqueue.queue_counts UNION ALL SELECT tenant, queue, ${columns} FROM atlasqueue.queue_changes) AS known,
         LATERAL (VALUES ${perStatus}) AS of(status, jobs)
    GROUP BY tenant, queue, status
  ), drifted AS (
    SELECT tenant, queue, status, coalesce(kept.jobs, 0)::float8 AS kept, coalesce(truth.jobs, 0)::float8 AS real
    FROM kept FULL JOIN truth USING (tenant, queue, status)
    WHERE coalesce(kept.jobs, 0) <> coalesce(truth.jobs, 0) AND (SELECT jobs FROM total) <= $1::int
  ), first AS (SELECT * FROM drifted ORDER BY tenant, queue, status LIMIT 20)
  SELECT jobs, (SELECT count(*)::int FROM drifted) AS places, (SELECT json_agg(first) FROM first) AS drifted
  FROM total`,
);
