import { jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/**
 * What is true of every row of `jobs`, by name. They are no constraints of the table: PostgreSQL would read and compile
 * them anew for each statement, which is an eighth of a claim of one job (decisions/2026-11-20-storage.md). Tests
 * and fault runs add them as constraints; `doctor` looks for rows that break one.
 */
export const jobChecks: Readonly<Record<string, string>> = {
  jobs_status_known: `status IN (${jobStatuses.map((status) => `'${status}'`).join(", ")})`,
  jobs_ready_at: "(status = 'queued') = (ready_at IS NOT NULL)",
  jobs_due_at: "(status IN ('scheduled', 'failed')) = (due_at IS NOT NULL)",
  jobs_expires_at: "expires_at IS NULL OR attempts > 0 OR status IN ('scheduled', 'blocked', 'queued')",
  jobs_dead_at: "(status = 'dead') = (dead_at IS NOT NULL)",
  jobs_group_seq: "(status = 'blocked') = (group_seq IS NOT NULL)",
  jobs_active_group_key_open: "active_group_key IS NULL OR status IN ('scheduled', 'queued', 'running', 'failed')",
};

/** `jobs`: how many there were; more than were asked for means that not all were looked at. */
export type BrokenJobs = { jobs: number; broken: { id: string; check: string }[] };

/**
 * The jobs of all tenants whose rows break one of `jobChecks`, the first 20 of them, among `jobs_max`.
 *
 * @example
 * const { broken } = await findBrokenJobs(deps, 200_000);
 */
export async function findBrokenJobs(deps: Pick<Deps, "database">, jobs_max: number): Promise<BrokenJobs> {
  type Row = { jobs: number; broken: BrokenJobs["broken"] | null };
  const [row] = await executeOn(deps.database)<Row>({ text, params: [jobs_max] });
  return { jobs: row?.jobs ?? 0, broken: row?.broken ?? [] };
}

const checks = Object.entries(jobChecks).map(([name, condition]) => `('${name}', ${condition})`);

const text = composed(
  "counts/broken-jobs",
  ["jobs_max"],
  `
  WITH looked AS MATERIALIZED (
    SELECT id, status, attempts, ready_at, due_at, expires_at, dead_at, group_seq, active_group_key FROM atlasqueue.jobs LIMIT $1::int + 1
  ), broken AS (
    SELECT id, name FROM looked, LATERAL (VALUES ${checks.join(", ")}) AS of(name, holds) WHERE NOT holds LIMIT 20
  )
  SELECT (SELECT count(*)::int FROM looked) AS jobs, (SELECT json_agg(json_build_object('id', id, 'check', name)) FROM broken) AS broken`,
);

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
