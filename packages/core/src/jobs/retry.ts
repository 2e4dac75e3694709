import { composed } from "../database/composed.ts";
import type { JobStatus } from "@atlasqueue/contract";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn, type Execute } from "../database/statement.ts";
import type { JobRow } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { transition } from "../tracing/send.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { noteParents } from "../outbox/notes.ts";
import { joinGroups } from "../groups/join.ts";

// Its edges are looked at as they were before: a job that waits for others may be ready by now. `releaseChildren` sees.
const waits =
  "flow_id IS NOT NULL AND (SELECT true FROM atlasqueue.flow_edges WHERE flow_edges.child = id LIMIT 1) IS NOT NULL";
const parentHasFailed =
  "coalesce((SELECT status FROM atlasqueue.jobs AS parent WHERE parent.id = flow_edges.parent), 'dead') IN ('dead', 'cancelled')";

/**
 * Parts of a WITH that make stopped jobs ready, now and as if they were new: no attempts spent, no result or error
 * left. `rows` is a part with their locked rows: id, tenant, queue, group_key, status, dead_at,
 * flow_id, has_children and has_steps. In its group, too, a job starts over, behind those that came meanwhile; one that failed
 * still has its turn there. A job that waits for others is blocked until these have ended, except those that have
 * failed, `when` (a further condition) it is to do without them; one that was started anew itself has not failed. Steps
 * and signals stay, so that what was done is not done again; what it waits for, it waits for anew. `queued` then has a
 * row for each, with its `returning` columns and `was`, the status it had. The statement must wait for a lock no longer than `lockTimeout`.
 */
export const startAnew = (rows: string, returning: string, when = "") => `
  waiting AS MATERIALIZED (
    SELECT id, tenant, true AS waits FROM ${rows} WHERE ${waits}
  ), done_without AS (
    DELETE FROM atlasqueue.flow_edges
    WHERE child = ANY(ARRAY(SELECT id FROM waiting)) AND failed${when} AND ${parentHasFailed}
  ), forgotten AS (
    UPDATE atlasqueue.flow_jobs SET cancelled_by = NULL
    WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows} WHERE flow_id IS NOT NULL)) AND cancelled_by IS NOT NULL
  ), waits_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows} WHERE has_steps)) AND kind = 'wait'
  ), noted_children AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'recheck_child', tenant, id::text FROM waiting
  ), revived AS (
    SELECT id, tenant, has_children FROM ${rows} WHERE status <> 'failed'
  ), ${noteParents("revived")}, ${joinGroups(`
    SELECT id, tenant, queue, group_key, row_number() OVER (ORDER BY dead_at, id) AS place
    FROM ${rows} WHERE group_key IS NOT NULL AND status <> 'failed' AND id NOT IN (SELECT id FROM waiting)`)}, queued AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN waits OR NOT may_run THEN 'blocked' ELSE 'queued' END,
                    ready_at = CASE WHEN waits IS NULL AND may_run IS NOT FALSE THEN now() END,
                    group_seq = CASE WHEN waits THEN 0 WHEN NOT may_run THEN seq END,
                    active_group_key = CASE WHEN may_run AND is_strict THEN jobs.group_key ELSE jobs.active_group_key END,
                    run_at = now(), updated_at = now(), attempts = 0, expires_at = NULL, due_at = NULL, dead_at = NULL, started_at = NULL,
                    finished_at = NULL, worker_id = NULL, locked_until = NULL, lease_token = NULL, dead_reason = NULL,
                    last_error = NULL, error_fingerprint = NULL, progress = NULL, result = NULL
    FROM ${rows} AS stopped LEFT JOIN seated USING (id) LEFT JOIN (SELECT id, waits FROM waiting) AS waiting USING (id)
    WHERE jobs.id = stopped.id
    RETURNING ${returning}, stopped.status AS was
  ), moved AS (
    SELECT tenant, queue, was AS from_status, status AS to_status FROM queued
  ), ${countMixedMoves("moved")}`;

export type RetryOutcome =
  /** Signal it if it is queued, not blocked by its group; `was_dead` means that it is no longer a dead letter. */
  | { kind: "retried"; job: JobRow; was: JobStatus; was_dead: boolean }
  | { kind: "not_retryable"; job: JobRow }
  | { kind: "unknown" };

/**
 * dead | cancelled | failed → queued (or blocked, in a group), now and as if it were new: no attempts spent, no result
 * or error left. What happened before stays in its history. It does without those of its parents that have failed. Throws
 * after 200 ms (`isLocked`) while another transaction has the job, its group or what is the job's locked.
 *
 * @example
 * const outcome = await retry(deps, "default", id);
 */
export async function retry(deps: Deps, tenant: string, id: string): Promise<RetryOutcome> {
  const outcome = await transition(deps, "retry", {}, () => retryWith(executeOn(deps.database), tenant, id));
  tellRetried(deps, outcome);
  return outcome;
}

/** The same as part of a transaction; `was` is the status it had. */
export async function retryWith(execute: Execute, tenant: string, id: string): Promise<RetryOutcome> {
  const [row] = await execute<JobRow & { was: JobStatus }>({ text, params: [id, tenant] });
  if (!row) return { kind: "unknown" };
  const { was, ...job } = row;
  if (!isRetryable(was)) return { kind: "not_retryable", job };
  return { kind: "retried", job, was, was_dead: was === "dead" };
}

/** Reported when it is committed. */
export function tellRetried({ observe }: Deps, outcome: { kind: string } | RetryOutcome): void {
  if (!("was" in outcome)) return;
  const { job, was } = outcome;
  observe({ event: "job_retried", job_id: job.id, job_type: job.type, queue: job.queue, tenant: job.tenant, was });
}

const stopped: readonly JobStatus[] = ["dead", "cancelled", "failed"];
export const isRetryable = (status: JobStatus): boolean => stopped.includes(status);
export const isStopped = `status IN (${stopped.map((status) => `'${status}'`).join(", ")})`;

// The row is locked first, so that the old status is the one the UPDATE found. A job that may not be retried is
// returned as it is.
const text = composed(
  "jobs/retry",
  ["id", "tenant"],
  `
  WITH found AS MATERIALIZED (
    SELECT * FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2 AND ${lockTimeout} FOR UPDATE
  ), stopped AS MATERIALIZED (
    SELECT * FROM found WHERE ${isStopped}
  ), ${startAnew("stopped", "jobs.*")}
  SELECT * FROM queued
  UNION ALL
  SELECT found.*, found.status AS was FROM found WHERE id NOT IN (SELECT id FROM stopped)`,
);
