import type { JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import { countMixedMoves } from "../counts/changes.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import type { ArrivedJob } from "../submit/arrivals/admit.ts";
import { noteParents } from "./note-parents.ts";
import { lookedAt, notesPage, type Looked, type NotePlace } from "./notes-page.ts";

/**
 * `notes` is how many were dealt with, and `left` whether there are others, of jobs that another process has locked or
 * changed meanwhile. Signal what is `ready`; `arrived` are those in groups, to be admitted; `cancelled` the ids
 * of those that ended here. With `deeper`, jobs that have children of their own were cancelled or revived.
 */
export type Released = Looked & {
  notes: number;
  left: boolean;
  ready: ReadyJob[];
  arrived: ArrivedJob[];
  cancelled: string[];
  deeper: boolean;
};

/**
 * What the edges of a job that waits for others say it is to be, it becomes:
 *
 * - blocked → queued | scheduled, when none is left; with a group it stays blocked, as an arrival.
 * - blocked → cancelled, when one is marked: that parent failed.
 * - cancelled because of a parent → blocked or ready, as new, when none is marked any more.
 *
 * One statement that waits for no one: a job that is locked is skipped, and its note stays. It tries `notes_max` notes,
 * `after` those that the look before has reached. Not synced to disk, as a crash that forgets this keeps the notes that
 * ask for it.
 *
 * @example
 * const { ready, reached } = await releaseChildren(deps, 500);
 */
export async function releaseChildren(
  deps: Deps,
  notes_max: number,
  after: readonly NotePlace[] = [],
): Promise<Released> {
  type Row = Looked & { notes: number; left: boolean; moved: Moved[] | null };
  const [row] = await executeOn(deps.database)<Row>({ text, params: [notes_max, JSON.stringify(after)] });
  const moved = row?.moved ?? [];
  const freed = moved.filter(({ move }) => move === "release");
  const cancelled = moved.filter(({ move }) => move === "cancel");
  const revived = moved.filter(({ from_status }) => from_status === "cancelled");
  if (freed.length > 0) deps.observe({ event: "children_released", count: freed.length });
  if (revived.length > 0) deps.observe({ event: "children_revived", count: revived.length });
  for (const { id, type, queue, tenant } of cancelled)
    deps.observe({ event: "job_cancelled", job_id: id, job_type: type, queue, tenant, was: "blocked" });
  return {
    notes: row?.notes ?? 0,
    in_vain: row?.in_vain ?? 0,
    reached: row?.reached ?? [],
    left: row?.left ?? false,
    ready: freed.filter(({ to_status }) => to_status === "queued"),
    arrived: freed.filter(({ to_status }) => to_status === "blocked").map(({ id, tenant }) => ({ id, tenant })),
    cancelled: cancelled.map(({ id }) => id),
    deeper: [...cancelled, ...revived].some(({ has_children }) => has_children),
  };
}

type Moved = ReadyJob & {
  type: string;
  has_children: boolean | null;
  move: "release" | "cancel" | "revive";
  from_status: JobStatus;
  to_status: JobStatus;
};

const whyCancelled = `(
                      SELECT CASE WHEN count(*) = 0 THEN 'ParentGone'
                                  WHEN bool_or(status = 'cancelled') THEN 'ParentCancelled' ELSE 'ParentDead' END
                             || ': the job ' || failed_parent || ' it depends on is '
                             || CASE WHEN count(*) = 0 THEN 'gone'
                                     WHEN bool_or(status = 'cancelled') THEN 'cancelled' ELSE 'dead' END
                      FROM jobs AS parent WHERE parent.id = failed_parent)`;

// Every statement that changes an edge also writes a note for its child, so a statement that sees the note sees the change: of two
// parents that end at once, the later note sees both. An edge changed since the snapshot has a note that this statement
// does not see, and so brings another look. Edges are never added to a job that has none, so one seen without any is
// ready whatever else happens. `seen` is the job as the snapshot has it and `locked` as it is now: where they differ, it
// was moved meanwhile, and the snapshot does not know what was noted with that (why it is cancelled, that it has
// arrived): the note stays for the next look.
const text = composed(
  "flows/release-children",
  ["notes_max", "places"],
  `
  WITH RECURSIVE ${notesPage("child")}, noted AS MATERIALIZED (
    SELECT page.note, page.job_id, locked.* FROM page
    LEFT JOIN LATERAL (SELECT xmin AS version FROM jobs WHERE jobs.id = page.job_id OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT xmin AS version, status, blocked_seq, group_key, run_at FROM jobs
      WHERE jobs.id = page.job_id FOR NO KEY UPDATE SKIP LOCKED) AS locked ON true
    LEFT JOIN LATERAL (SELECT true AS exists FROM flow_jobs WHERE flow_jobs.job_id = page.job_id OFFSET 0) AS known ON true
    LEFT JOIN LATERAL (
      SELECT true AS free FROM flow_jobs WHERE flow_jobs.job_id = page.job_id FOR NO KEY UPDATE SKIP LOCKED) AS part ON true
    WHERE (seen.version IS NULL OR seen.version = locked.version) AND known.exists IS NOT DISTINCT FROM part.free
  ), children AS MATERIALIZED (
    SELECT child.*, flow_jobs.cancelled_by,
           (SELECT true FROM flow_edges WHERE flow_edges.child = child.id LIMIT 1) AS waits,
           (SELECT parent FROM flow_edges WHERE flow_edges.child = child.id AND failed LIMIT 1) AS failed_parent
    FROM (
      SELECT DISTINCT ON (job_id) job_id AS id, status, group_key, run_at FROM noted
      WHERE status = 'cancelled' OR blocked_seq = 0 ORDER BY job_id) AS child
    CROSS JOIN LATERAL (SELECT cancelled_by FROM flow_jobs WHERE job_id = child.id) AS flow_jobs
  ), decided AS MATERIALIZED (
    SELECT *, CASE WHEN move = 'cancel' THEN 'cancelled' WHEN move = 'revive' OR group_key IS NOT NULL THEN 'blocked'
                   WHEN run_at > now() THEN 'scheduled' ELSE 'queued' END AS becomes
    FROM (
      SELECT *, CASE WHEN failed_parent IS NOT NULL THEN CASE WHEN status = 'blocked' THEN 'cancel' END
                     WHEN status = 'cancelled' AND cancelled_by IS NULL THEN NULL
                     WHEN waits IS NULL THEN 'release'
                     WHEN status = 'cancelled' THEN 'revive' END AS move
      FROM children WHERE (SELECT true FROM arrivals WHERE arrivals.job_id = children.id) IS NULL) AS child
    WHERE move IS NOT NULL
  ), moved AS (
    UPDATE jobs SET status = becomes, blocked_seq = CASE WHEN becomes = 'blocked' THEN 0 END,
                    ready_at = CASE WHEN becomes = 'queued' THEN now() END,
                    due_at = CASE WHEN becomes = 'scheduled' THEN jobs.run_at END,
                    run_at = greatest(jobs.run_at, now()), updated_at = now(),
                    finished_at = CASE WHEN becomes = 'cancelled' THEN now() END,
                    last_error = CASE WHEN becomes = 'cancelled' THEN ${whyCancelled} END
    FROM decided WHERE jobs.id = decided.id AND jobs.id = ANY(ARRAY(SELECT id FROM decided))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.priority, jobs.group_key, jobs.has_children, move,
              failed_parent, decided.status AS from_status, becomes AS to_status
  ), remembered AS (
    UPDATE flow_jobs SET cancelled_by = moved.failed_parent FROM moved
    WHERE flow_jobs.job_id = moved.id AND flow_jobs.job_id = ANY(ARRAY(SELECT id FROM decided))
      AND flow_jobs.cancelled_by IS DISTINCT FROM moved.failed_parent
  ), arrived AS (
    INSERT INTO arrivals (job_id, tenant, queue, group_key)
    SELECT id, tenant, queue, group_key FROM moved WHERE move = 'release' AND to_status = 'blocked'
  ), changed AS (
    SELECT * FROM moved WHERE 'cancelled' IN (from_status, to_status)
  ), ${noteParents("changed")}, counted_moves AS (
    SELECT * FROM moved WHERE from_status <> to_status
  ), ${countMixedMoves("counted_moves")}, gone AS (
    DELETE FROM flow_notes WHERE ctid = ANY(ARRAY(SELECT note FROM noted)) RETURNING ctid
  )
  SELECT (SELECT count(*)::int FROM gone) AS notes, ${lookedAt("noted")},
         EXISTS (SELECT FROM flow_notes WHERE role = 'child' AND ctid NOT IN (SELECT ctid FROM gone)) AS left,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'type', type, 'priority', priority,
                                            'has_children', has_children, 'move', move, 'from_status', from_status,
                                            'to_status', to_status) ORDER BY id)
          FROM moved) AS moved`,
);
