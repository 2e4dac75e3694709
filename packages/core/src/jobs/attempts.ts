import type { Attempt, LogLine } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { bytesOf, fitting } from "../memory-budget/bytes.ts";

const attempts_max = 500;

/**
 * The attempts of a tenant's job, the oldest first, the newest 500 of them, or as many as fit into a page with
 * their logs; undefined when there is no such job.
 * Failed, lost and cancelled ones are in the history, as is a succeeded one that logged; otherwise the job itself tells
 * of that one and the running one.
 */
export async function listAttempts(
  deps: Pick<Deps, "database">,
  tenant: string,
  id: string,
): Promise<Attempt[] | undefined> {
  type Row = Omit<Attempt, "attempt" | "started_at" | "finished_at" | "log"> & {
    attempt: number | null;
    started_at: Date | null;
    finished_at: Date | null;
    logs: LogLine[] | null;
  };
  const rows = await executeOn(deps.database)<Row>({ text, params: [id, tenant, attempts_max] });
  if (rows.length === 0) return undefined;
  return rows
    .filter((row): row is Row & { attempt: number } => row.attempt !== null)
    .map(({ attempt, worker_id, started_at, finished_at, outcome, error, logs }) => ({
      attempt,
      worker_id,
      outcome,
      error,
      started_at: started_at?.toISOString() ?? null,
      finished_at: finished_at?.toISOString() ?? null,
      log: logs ?? [],
    }));
}

// A row without an attempt shows that the job exists.
const text = `
  WITH RECURSIVE job AS (SELECT * FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2), past AS (
    SELECT * FROM atlasqueue.job_attempts WHERE job_id IN (SELECT id FROM job) ORDER BY id DESC LIMIT $3::int
  ), page AS MATERIALIZED (
    SELECT id FROM past
  ), ${fitting({ from: "(SELECT * FROM atlasqueue.job_attempts WHERE job_id = $1::uuid) AS own", key: "id", order: "id DESC", bytes: `${bytesOf("logs")} + ${bytesOf("error")}` })}
  SELECT NULL AS attempt, NULL AS worker_id, NULL AS started_at, NULL AS finished_at, NULL AS outcome, NULL AS error, NULL::json AS logs, 0 AS place FROM job
  UNION ALL
  SELECT attempt, worker_id, started_at, finished_at, outcome, error, logs, id FROM past WHERE id IN (SELECT id FROM fitting)
  UNION ALL
  SELECT attempts, worker_id, started_at, finished_at, status, NULL, NULL, 9223372036854775807 FROM job
  WHERE status = 'running' OR (status = 'succeeded' AND NOT EXISTS (SELECT FROM past WHERE outcome = 'succeeded'))
  ORDER BY place`;
