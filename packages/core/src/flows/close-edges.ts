import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";
import { lookedAt, notesPage, type Looked, type NotePlace } from "./notes-page.ts";

/**
 * `notes` is how many were dealt with for good, `edges` how many were closed, marked or unmarked. `left` is true when
 * there are other notes: of parents that have more edges, or that another process has locked. `further`: a look at some
 * of these goes on from a later place.
 */
export type Closed = Looked & { notes: number; edges: number; left: boolean; further: boolean };

/** Edges written in one statement, shared among the parents of its notes. */
const edges_max = 500;
/** Edges looked at for that, shared in the same way: very many may be as they should be. */
const looked_at_max = 2_000;
const before_all = "00000000-0000-0000-0000-000000000000";
const behind_all = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * What the end of a parent, its removal or its start anew, means for those that wait for it: its edges are closed, or marked as
 * failed, or the mark goes, and the children get notes. What becomes of these, `releaseChildren` decides. One statement
 * that waits for no one: a parent or an edge that is locked is skipped, and its note stays. It tries `notes_max` notes,
 * `after` those that the look before has reached. Not synced to disk, as a crash that forgets this keeps the notes that
 * ask for it.
 *
 * @example
 * const { left, reached } = await closeEdges(deps, 500);
 */
export async function closeEdges(
  deps: Pick<Deps, "database">,
  notes_max: number,
  after: readonly NotePlace[] = [],
): Promise<Closed> {
  const [row] = await executeOn(deps.database)<Closed>({ text, params: [notes_max, JSON.stringify(after)] });
  return row ?? { notes: 0, edges: 0, left: false, further: false, in_vain: 0, reached: [] };
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

/** Of all edges of a parent, those that one look is about: the children after the place where the last look ended. */
const inWindow = "child > after AND child <= until";
/** Each tenant has its share, and each of its parents one of that. */
const shareOf = (all: number) => `greatest(1, ${all} / parents.sharers)`;

// The status is that of the locked row, as it is now; every edge that was there before a note is in the snapshot that
// shows the note. A look goes through a parent's edges in the order of their children and ends after a share of them; its
// note then goes to the end of the line, with the place where the next look goes on, so that neither many children nor
// edges that are locked keep others' notes waiting. What came up for the same parent meanwhile is kept for a look from the
// start, after this one's end, as is an edge that was skipped, or changed since the snapshot. Rows are found by LATERAL
// and `= ANY`, never by a join, which could be planned as a scan of the whole table.
const text = composed(
  "flows/close-edges",
  ["notes_max", "places"],
  `
  WITH RECURSIVE ${notesPage("parent")}, noted AS MATERIALIZED (
    SELECT note, job_id, tenant, coalesce(after, '${before_all}') AS after, coalesce(locked.status, 'gone') AS status FROM page
    LEFT JOIN LATERAL (SELECT true AS exists FROM jobs WHERE jobs.id = page.job_id OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT status FROM jobs WHERE jobs.id = page.job_id FOR NO KEY UPDATE SKIP LOCKED) AS locked ON true
    WHERE seen.exists IS NULL OR locked.status IS NOT NULL
  ), parents AS MATERIALIZED (
    SELECT *, count(*) OVER (PARTITION BY tenant) * (SELECT count(DISTINCT tenant) FROM noted) AS sharers FROM (
      SELECT DISTINCT ON (job_id) job_id AS id, tenant, status, after,
             after <> first_value(after) OVER (PARTITION BY job_id ORDER BY after) AS again
      FROM noted ORDER BY job_id, after DESC) AS parent
  ), looks AS MATERIALIZED (
    SELECT parents.*, coalesce((
      SELECT child FROM flow_edges WHERE parent = parents.id AND child > after
      ORDER BY child OFFSET ${shareOf(looked_at_max)} - 1 LIMIT 1), '${behind_all}') AS until
    FROM parents
  ), due AS MATERIALIZED (
    SELECT parents.id, sharers, edge.* FROM looks AS parents, LATERAL (
      SELECT flow_edges.ctid AS edge, child, ${closes} AS closes FROM flow_edges WHERE ${isDue("flow_edges")} AND ${inWindow}
      ORDER BY child LIMIT ${shareOf(edges_max)} FOR UPDATE SKIP LOCKED) AS edge
  ), closed AS (
    DELETE FROM flow_edges WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE closes)) RETURNING parent, child
  ), marked AS (
    UPDATE flow_edges SET failed = NOT failed WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE NOT closes))
    RETURNING parent, child
  ), done AS MATERIALIZED (
    SELECT parent, child, tenant FROM (SELECT * FROM closed UNION ALL SELECT * FROM marked) AS edge JOIN looks ON looks.id = edge.parent
  ), children AS (
    INSERT INTO flow_notes (job_id, role, tenant) SELECT DISTINCT child, 'child', tenant FROM done
  ), full_shares AS MATERIALIZED (
    SELECT id, (array_agg(child ORDER BY child DESC))[1] AS reached FROM due AS parents GROUP BY id, sharers HAVING count(*) = ${shareOf(edges_max)}
  ), ends AS MATERIALIZED (
    SELECT parents.id, parents.tenant, again, until, reached, (
      SELECT child FROM flow_edges
      WHERE ${isDue("flow_edges")} AND ${inWindow} AND (parent, child) NOT IN (SELECT parent, child FROM done)
      ORDER BY child LIMIT 1) AS undone
    FROM looks AS parents LEFT JOIN full_shares ON full_shares.id = parents.id
  ), left_over AS MATERIALIZED (
    SELECT id, tenant, again, CASE WHEN undone IS NOT NULL AND reached IS NOT NULL THEN reached ELSE nullif(until, '${behind_all}') END AS next,
           coalesce(undone <= reached, undone IS NOT NULL) AS skipped
    FROM ends
  ), gone AS (
    DELETE FROM flow_notes WHERE ctid = ANY(ARRAY(SELECT note FROM noted)) RETURNING ctid
  ), back AS (
    INSERT INTO flow_notes (job_id, role, tenant, after)
    SELECT id, 'parent', tenant, next FROM left_over WHERE next IS NOT NULL
    UNION ALL SELECT id, 'parent', tenant, NULL FROM left_over WHERE again OR skipped
    RETURNING job_id
  )
  SELECT (SELECT count(*)::int FROM noted WHERE job_id NOT IN (
           SELECT id FROM left_over WHERE next IS NOT NULL OR again OR skipped)) AS notes,
         (SELECT count(*)::int FROM done) AS edges, ${lookedAt("noted")},
         EXISTS (SELECT FROM left_over WHERE next IS NOT NULL OR again OR skipped)
           OR EXISTS (SELECT FROM flow_notes WHERE role = 'parent' AND ctid NOT IN (SELECT ctid FROM gone)) AS left,
         EXISTS (SELECT FROM left_over WHERE next IS NOT NULL OR again) AS further`,
);
