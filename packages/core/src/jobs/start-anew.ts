import { countMixedMoves } from "../counts/changes.ts";
import { noteParents } from "../flows/note-parents.ts";
import { joinGroups } from "../groups/join.ts";
import { forgetWaits } from "../steps/forget.ts";

// Its edges are looked at as they were before: a job that waits for others may be ready by now. `releaseChildren` sees.
const waits = "flow_id IS NOT NULL AND EXISTS (SELECT FROM flow_edges WHERE flow_edges.child = id)";
const theWaiting = "ANY(ARRAY(SELECT id FROM waiting))";

/**
 * Parts of a WITH that make stopped jobs ready, now and as if they were new: no attempts spent, no result or error
 * left. `rows` is a part with their locked rows: id, tenant, queue, group_key, status, dead_at,
 * flow_id and has_children. In its group, too, a job starts over, behind those that came meanwhile; one that failed
 * still has its turn there. A job that waits for others is blocked until these have ended, except those that have
 * failed, `when` (a further condition) it is to do without them; one that was started anew itself has not failed. Steps
 * and signals stay, so that what was done is not done again; what it waits for, it waits for anew. `queued` then has a
 * row for each, with its `returning` columns and `was`, the status it had.
 */
export const startAnew = (rows: string, returning: string, when = "") => `
  waiting AS MATERIALIZED (
    SELECT id, true AS waits FROM ${rows} WHERE ${waits}
  ), done_without AS (
    DELETE FROM flow_edges WHERE child = ${theWaiting} AND failed${when}
      AND coalesce((SELECT status FROM jobs AS parent WHERE parent.id = flow_edges.parent), 'dead') IN ('dead', 'cancelled')
  ), forgotten AS (
    UPDATE flow_jobs SET cancelled_by = NULL
    WHERE job_id = ANY(ARRAY(SELECT id FROM ${rows} WHERE flow_id IS NOT NULL)) AND cancelled_by IS NOT NULL
  ), noted_children AS (
    INSERT INTO flow_notes (job_id, role) SELECT id, 'child' FROM waiting
  ), revived AS (
    SELECT id, has_children FROM ${rows} WHERE status <> 'failed'
  ), ${noteParents("revived")}, ${joinGroups(`
    SELECT id, tenant, queue, group_key, row_number() OVER (ORDER BY dead_at, id) AS place
    FROM ${rows} WHERE group_key IS NOT NULL AND status <> 'failed' AND id NOT IN (SELECT id FROM waiting)`)}, queued AS (
    UPDATE jobs SET status = CASE WHEN waits OR NOT may_run THEN 'blocked' ELSE 'queued' END,
                    ready_at = CASE WHEN waits IS NULL AND may_run IS NOT FALSE THEN now() END,
                    blocked_seq = CASE WHEN waits THEN 0 WHEN NOT may_run THEN seq END,
                    holds_group = CASE WHEN may_run AND is_strict THEN jobs.group_key ELSE jobs.holds_group END,
                    run_at = now(), updated_at = now(), attempts = 0, due_at = NULL, dead_at = NULL, started_at = NULL,
                    finished_at = NULL, worker_id = NULL, locked_until = NULL, lease_token = NULL, dead_reason = NULL,
                    last_error = NULL, error_fingerprint = NULL, progress = NULL, result = NULL
    FROM ${rows} LEFT JOIN seated USING (id) LEFT JOIN waiting USING (id)
    WHERE jobs.id = ${rows}.id
    RETURNING ${returning}, ${rows}.status AS was
  ), moved AS (
    SELECT tenant, queue, was AS from_status, status AS to_status FROM queued
  ), ${forgetWaits(rows)}, ${countMixedMoves("moved")}`;
