import { composed } from "../database/composed.ts";
import { isFinal, jobStatuses, type JobStatus } from "@atlasqueue/contract";
import { hidden, textArray, uuidArray } from "../database/literals.ts";
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

/** What follows a cancellation needs to know this of the job. */
export type CancelledJob = Pick<JobRow, "id" | "type" | "tenant" | "queue" | "group_key" | "has_children">;

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
  tell(deps, row);
  return { kind: "cancelled", job };
}

/** The same for many, in one statement. Locked ones stay as they are, and those in another status. */
export async function cancelMany(
  deps: Deps,
  tenant: string,
  ids: readonly string[],
  from: readonly JobStatus[] = notFinal,
): Promise<readonly CancelledJob[]> {
  const params = [uuidArray(ids), tenant, textArray(from)];
  const jobs = await transition(deps, "cancel", { count: ids.length }, () =>
    executeOn(deps.database)<CancelledJob & { was: JobStatus }>({ text: many, params }),
  );
  for (const job of jobs) tell(deps, job);
  return jobs;
}

function tell({ observe }: Deps, { id, type, queue, tenant, was }: CancelledJob & { was: JobStatus }): void {
  observe({ event: "job_cancelled", job_id: id, job_type: type, queue, tenant, was });
}

// The rows are locked first, so that the old status is the one the UPDATE found.
const cancelled = (which: string) => `
  WITH found AS MATERIALIZED (
    SELECT * FROM jobs WHERE ${which}
  ), open AS MATERIALIZED (
    SELECT * FROM found WHERE status = ANY($3::text[])
  ), cancelled AS (
    UPDATE jobs SET status = 'cancelled', ready_at = NULL, due_at = NULL, finished_at = now(), updated_at = now(),
                    locked_until = NULL, lease_token = NULL, blocked_seq = NULL, holds_group = NULL, waits_for = NULL
    WHERE id = ANY(ARRAY(SELECT id FROM open))
    RETURNING *
  ), history AS (
    INSERT INTO job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome)
    SELECT id, attempts, worker_id, started_at, now(), 'cancelled' FROM open WHERE status = 'running'
  ), moved AS (
    SELECT tenant, queue, status AS from_status, 'cancelled' AS to_status FROM open
  ), ${countMixedMoves("moved")}, let_through AS (
    SELECT tenant, queue, group_key FROM open WHERE status <> 'blocked'
  ), ${handOver("let_through")}, ${noteParents("open")}`;

const parameters = ["ids", "tenant", "from_statuses"];
// A job that may not be cancelled is returned as it is.
const text = composed(
  "jobs/cancel",
  parameters,
  `${cancelled("id = $1::uuid AND tenant = $2 FOR UPDATE")}
  SELECT cancelled.*, open.status AS was FROM cancelled JOIN open ON open.id = cancelled.id
  UNION ALL
  SELECT found.*, found.status AS was FROM found WHERE id NOT IN (SELECT id FROM open)`,
);
const many = composed(
  "jobs/cancel-many",
  parameters,
  `${cancelled(`id = ANY(${hidden("$1::uuid[]")}) AND tenant = $2 FOR UPDATE SKIP LOCKED`)}
  SELECT id, type, tenant, queue, group_key, has_children, status AS was FROM open`,
);
