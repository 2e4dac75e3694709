import { jobStatuses, type JobStatus } from "@atlasqueue/contract";

/** What happened to each status: an aggregate over the rows of one tenant and queue. */
type Changes = Partial<Record<JobStatus, string>>;

/**
 * A part of a WITH that keeps the counts of queues: one row for each queue the statement touched, in the statement's
 * own transaction, and appended, so that no one waits for a counter. `rows` is another part of the WITH with a row of
 * `tenant` and `queue` for each job; use `countMixedMoves` where they went different ways.
 * See decisions/2026-11-20-counts.md.
 *
 * @example
 * `WITH made AS (INSERT … RETURNING tenant, queue, due_at),
 *    ${countChanges("made", { queued: "count(*) - count(due_at)", scheduled: "count(due_at)" })} SELECT …`;
 */
export function countChanges(rows: string, changes: Changes): string {
  return `counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, ${Object.keys(changes).join(", ")})
    SELECT tenant, queue, ${Object.values(changes).join(", ")} FROM ${rows} GROUP BY tenant, queue
  )`;
}

/**
 * The counts, when `rows` went different ways: each has its `from_status` and `to_status`, null for a job that did not
 * exist before or is gone afterwards.
 *
 * @example
 * `WITH cancelled AS (UPDATE … RETURNING tenant, queue, 'cancelled' AS to_status, held.status AS from_status),
 *    ${countMixedMoves("cancelled")} SELECT …`;
 */
export function countMixedMoves(rows: string): string {
  const change = (status: JobStatus) =>
    `count(*) FILTER (WHERE to_status = '${status}') - count(*) FILTER (WHERE from_status = '${status}')`;
  return countChanges(rows, Object.fromEntries(jobStatuses.map((status) => [status, change(status)])));
}
