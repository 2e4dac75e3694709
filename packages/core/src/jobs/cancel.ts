import { composed } from "../database/composed.ts";
import { isFinal, jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { textArray } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { noteParents } from "../flows/note-parents.ts";
import { handOver } from "../groups/join.ts";
import { transition } from "../tracing/transition.ts";

export type CancelOutcome =
  | { kind: "cancelled"; job: JobRow }
  /** Its status may not be cancelled, so it stays as it is. */
  | { kind: "not_cancellable"; job: JobRow }
  | { kind: "unknown" };

const notFinal = jobStatuses.filter((status) => !isFinal(status));

/**
 * Any status that is not final → cancelled, or any of `from`, which contains no final one. A running job's lease ends
 * with it: its worker's next heartbeat and settlement are refused, and the attempt goes to the history. Then the next
 * of its group may go.
 *
 * @example
 * const outcome = await cancel(deps, "default", id);
 * const stillWaiting = await cancel(deps, "default", id, ["scheduled", "queued"]);
 */
export async function cancel(
  deps: Deps,
  tenant: string,
  id: string,
  from: readonly JobStatus[] = notFinal,
): Promise<CancelOutcome> {
  const params = [id, tenant, textArray(from)];
  const [row] = await transition(deps, "cancel", {}, () =>
    executeOn(deps.database)<JobRow & { was: JobStatus }>({ text, params }),
  );
  if (!row) return { kind: "unknown" };
  const { was, ...job } = row;
  if (!from.includes(was)) return { kind: "not_cancellable", job };
  deps.observe({
    event: "job_cancelled",
    job_id: job.id,
    job_type: job.type,
    queue: job.queue,
    tenant: job.tenant,
    was,
  });
  return { kind: "cancelled", job };
}

// The row is locked first, so that the old status is the one the UPDATE found. A job that may not be cancelled is
// returned as it is.
const text = composed(
  "jobs/cancel",
  ["id", "tenant", "from_statuses"],
  `
  WITH found AS MATERIALIZED (
    SELECT * FROM jobs WHERE id = $1::uuid AND tenant = $2 FOR UPDATE
  ), open AS MATERIALIZED (
    SELECT * FROM found WHERE status = ANY($3::text[])
  ), cancelled AS (
    UPDATE jobs SET status = 'cancelled', ready_at = NULL, due_at = NULL, finished_at = now(), updated_at = now(),
                    locked_until = NULL, lease_token = NULL, blocked_seq = NULL, holds_group = NULL, waits_for = NULL
    WHERE id IN (SELECT id FROM open)
    RETURNING *
  ), history AS (
    INSERT INTO job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome)
    SELECT id, attempts, worker_id, started_at, now(), 'cancelled' FROM open WHERE status = 'running'
  ), moved AS (
    SELECT tenant, queue, status AS from_status, 'cancelled' AS to_status FROM open
  ), ${countMixedMoves("moved")}, let_through AS (
    SELECT tenant, queue, group_key FROM open WHERE status <> 'blocked'
  ), ${handOver("let_through")}, ${noteParents("open")}
  SELECT cancelled.*, open.status AS was FROM cancelled JOIN open ON open.id = cancelled.id
  UNION ALL
  SELECT found.*, found.status AS was FROM found WHERE id NOT IN (SELECT id FROM open)`,
);
