import { bounded } from "../database/bounded.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { aboutLease } from "./claim.ts";

export type Recovered = { requeued: ReadyJob[]; dead: string[] };

/**
 * running → queued at once, for jobs whose worker stopped renewing; dead when the lost lease was the last attempt, so
 * a job that kills its worker ends. The lost attempt goes to the history in the same statement.
 *
 * @example
 * const { requeued, dead } = await recoverExpired(deps, 500);
 */
export async function recoverExpired(deps: Deps, jobs_max: number): Promise<Recovered> {
  const { sql } = deps.database;
  const rows = await bounded(
    deps.database,
    sql<(ReadyJob & { type: string; status: "queued" | "dead"; attempts: number; worker_id: string })[]>`
    WITH expired AS MATERIALIZED (
      SELECT id, worker_id, started_at FROM jobs WHERE status = 'running' AND locked_until <= now()
      LIMIT ${jobs_max} FOR UPDATE SKIP LOCKED
    ), recovered AS (
      UPDATE jobs SET
        status = CASE WHEN attempts >= max_attempts THEN 'dead' ELSE 'queued' END,
        dead_reason = CASE WHEN attempts >= max_attempts THEN 'lease_lost' END,
        finished_at = CASE WHEN attempts >= max_attempts THEN now() END,
        last_error = ${leaseLostError}, lease_token = NULL, locked_until = NULL, updated_at = now()
      FROM expired WHERE jobs.id = expired.id AND jobs.status = 'running'
      RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.priority, jobs.type, jobs.status, jobs.attempts,
                expired.worker_id, expired.started_at
    ), history AS (
      INSERT INTO job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome, error)
      SELECT id, attempts, worker_id, started_at, now(), 'lost', ${leaseLostError} FROM recovered
    )
    SELECT id, tenant, queue, priority, type, status, attempts, worker_id FROM recovered`,
  );
  for (const row of rows)
    deps.observe({ event: "lease_expired", ...aboutLease(row), outcome: row.status === "dead" ? "dead" : "requeued" });
  return {
    requeued: rows.filter((row) => row.status === "queued"),
    dead: rows.filter((row) => row.status === "dead").map((row) => row.id),
  };
}

const leaseLostError = "LeaseLost: the worker stopped renewing its lease";
