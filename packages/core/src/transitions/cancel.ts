import { isFinal } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { JobRow } from "../database/schema.ts";
import type { Deps } from "../deps.ts";
import { countMixedMoves } from "./count-changes.ts";
import { handOver } from "./join-groups.ts";

export type CancelOutcome =
  | { kind: "cancelled"; job: JobRow }
  /** It had finished before, and stays as it is. */
  | { kind: "finished"; job: JobRow }
  | { kind: "unknown" };

/**
 * Any status that is not final → cancelled. A running job's lease ends with it: its worker's next heartbeat and its
 * settlement are refused, and the attempt goes to the history. The next of its group may go then.
 *
 * @example
 * const outcome = await cancel(deps, "default", id);
 */
export async function cancel(deps: Deps, tenant: string, id: string): Promise<CancelOutcome> {
  const [row] = await executeOn(deps.database)<JobRow & { was: JobRow["status"] }>({ text, params: [id, tenant] });
  if (!row) return { kind: "unknown" };
  const { was, ...job } = row;
  if (isFinal(was)) return { kind: "finished", job };
  deps.observe({ event: "job_cancelled", job_id: job.id, job_type: job.type, queue: job.queue, was });
  return { kind: "cancelled", job };
}

// The row is locked first, so that what it was is what the UPDATE found. A final one comes back as it is.
const text = `
  WITH found AS MATERIALIZED (
    SELECT * FROM jobs WHERE id = $1::uuid AND tenant = $2 FOR UPDATE
  ), open AS MATERIALIZED (
    SELECT * FROM found WHERE status NOT IN ('succeeded', 'dead', 'cancelled')
  ), cancelled AS (
    UPDATE jobs SET status = 'cancelled', ready_at = NULL, due_at = NULL, finished_at = now(), updated_at = now(),
                    locked_until = NULL, lease_token = NULL, blocked_seq = NULL, holds_group = NULL
    WHERE id IN (SELECT id FROM open)
    RETURNING *
  ), history AS (
    INSERT INTO job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome)
    SELECT id, attempts, worker_id, started_at, now(), 'cancelled' FROM open WHERE status = 'running'
  ), moved AS (
    SELECT tenant, queue, status AS from_status, 'cancelled' AS to_status FROM open
  ), ${countMixedMoves("moved")}, let_through AS (
    SELECT tenant, queue, group_key FROM open WHERE status <> 'blocked'
  ), ${handOver("let_through")}
  SELECT cancelled.*, open.status AS was FROM cancelled JOIN open ON open.id = cancelled.id
  UNION ALL
  SELECT found.*, found.status AS was FROM found WHERE id NOT IN (SELECT id FROM open)`;
