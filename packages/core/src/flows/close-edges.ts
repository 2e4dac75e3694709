import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";

/**
 * `notes` is how many were dealt with for good, `edges` how many were closed, marked or unmarked. `left` is true when
 * there are other notes: of parents that have more edges, or that another process has locked.
 */
export type Closed = { notes: number; edges: number; left: boolean };

/** Edges written in one statement, shared among the parents of its notes. */
const edges_max = 500;

/**
 * What the end of a parent, its removal or its start anew, means for those that wait for it: its edges are closed, or marked as
 * failed, or the mark goes, and the children get notes. What becomes of these, `releaseChildren` decides. One statement
 * that waits for no one: a parent or an edge that is locked is skipped, and its note stays. Not synced to disk, as a
 * crash that forgets this keeps the notes that ask for it.
 *
 * @example
 * const { left } = await closeEdges(deps, 500);
 */
export async function closeEdges(deps: Pick<Deps, "database">, notes_max: number): Promise<Closed> {
  const [row] = await executeOn(deps.database)<Closed>({ text, params: [notes_max] });
  return row ?? { notes: 0, edges: 0, left: false };
}

const failed = "parents.status IN ('dead', 'cancelled', 'gone')";
const closes = `(parents.status = 'succeeded' OR ${failed} AND on_parent_failure = 'run')`;

/**
 * Edges that are not yet as their parent's status wants them: a condition over `parents`, with the `id` and the `status`
 * of each. Nothing brings back a parent that is gone, so a job that waits for its replay has waited in vain.
 */
export const isDue = (edge: string) => `parent = parents.id AND CASE
        WHEN ${closes} THEN true
        WHEN parents.status = 'gone' THEN NOT ${edge}.failed
        WHEN ${failed} THEN on_parent_failure = 'cancel' AND NOT ${edge}.failed
        ELSE ${edge}.failed END`;

// The status is that of the locked row, as it is now; every edge that was there before a note is in the snapshot that
// shows the note. A note goes when no edge is left to act on in that snapshot: one skipped, or changed meanwhile, keeps
// it. It then goes to the end of the line, as notes are taken in the order of their places: neither many children nor
// edges that are locked keep others' notes waiting. Rows are found by LATERAL and `= ANY`, never by a join, which could be planned as a scan of the whole table.
const text = composed(
  "flows/close-edges",
  ["notes_max"],
  `
  WITH noted AS MATERIALIZED (
    SELECT note.ctid AS note, note.job_id, coalesce(locked.status, 'gone') AS status
    FROM flow_notes AS note
    LEFT JOIN LATERAL (SELECT true AS exists FROM jobs WHERE jobs.id = note.job_id OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT status FROM jobs WHERE jobs.id = note.job_id FOR NO KEY UPDATE SKIP LOCKED) AS locked ON true
    WHERE note.role = 'parent' AND ${unsynced} AND (seen.exists IS NULL OR locked.status IS NOT NULL)
    LIMIT $1::int FOR UPDATE OF note SKIP LOCKED
  ), parents AS MATERIALIZED (
    SELECT DISTINCT job_id AS id, status FROM noted
  ), due AS MATERIALIZED (
    SELECT edge.* FROM parents, LATERAL (
      SELECT flow_edges.ctid AS edge, ${closes} AS closes FROM flow_edges WHERE ${isDue("flow_edges")}
      LIMIT (SELECT greatest(1, ${edges_max} / greatest(1, count(*))) FROM parents) FOR UPDATE SKIP LOCKED) AS edge
  ), closed AS (
    DELETE FROM flow_edges WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE closes)) RETURNING parent, child
  ), marked AS (
    UPDATE flow_edges SET failed = NOT failed WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE NOT closes))
    RETURNING parent, child
  ), done AS MATERIALIZED (
    SELECT parent, child FROM closed UNION ALL SELECT parent, child FROM marked
  ), children AS (
    INSERT INTO flow_notes (job_id, role) SELECT DISTINCT child, 'child' FROM done
  ), undone AS MATERIALIZED (
    SELECT id FROM parents WHERE EXISTS (
      SELECT FROM flow_edges WHERE ${isDue("flow_edges")} AND (parent, child) NOT IN (SELECT parent, child FROM done))
  ), gone AS (
    DELETE FROM flow_notes WHERE ctid = ANY(ARRAY(SELECT note FROM noted)) RETURNING ctid
  ), again AS (
    INSERT INTO flow_notes (job_id, role) SELECT id, 'parent' FROM undone RETURNING job_id
  )
  SELECT (SELECT count(*)::int FROM noted WHERE job_id NOT IN (SELECT id FROM undone)) AS notes,
         (SELECT count(*)::int FROM done) AS edges, EXISTS (SELECT FROM undone)
           OR EXISTS (SELECT FROM flow_notes WHERE role = 'parent' AND ctid NOT IN (SELECT ctid FROM gone)) AS left`,
);
