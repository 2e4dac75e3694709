import type { JobStatus } from "@atlasqueue/contract";
import { composed } from "../database/composed.ts";
import { uuidArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import { countMixedMoves } from "../counts/changes.ts";
import type { Deps } from "../deps.ts";
import { groupLane } from "../groups/join.ts";
import type { Handled, OutboxRow } from "../outbox/drain-page.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { noteParents } from "../outbox/notes.ts";

/** `cancelled` are the ids of those that ended here. */
export type Released = { ready: ReadyJob[]; cancelled: string[] };

/**
 * What the edges of a job that waits for others say it is to be, it becomes:
 *
 * - blocked → queued | scheduled, when none is left; with a group it stays blocked, with a row `admit`.
 * - blocked → cancelled, when one is marked: that parent failed.
 * - cancelled because of a parent → blocked or ready, as new, when none is marked any more.
 *
 * A job that it cancels or revives and that has children gets a row `parent_ended`. `released` is called after the commit.
 */
export async function releaseChildren(
  { observe }: Pick<Deps, "observe">,
  execute: Execute,
  rows: readonly OutboxRow[],
  released: (jobs: Released) => Promise<void>,
): Promise<Handled> {
  const ids = [...new Set(rows.flatMap(({ key }) => key ?? []))];
  type Row = { skipped: string[] | null; moved: Moved[] | null };
  const [row] = await execute<Row>({ text, params: [uuidArray(ids)] });
  const { skipped, moved } = { skipped: row?.skipped ?? [], moved: row?.moved ?? [] };
  const freed = moved.filter(({ move }) => move === "release");
  const cancelled = moved.filter(({ move }) => move === "cancel");
  const revived = moved.filter(({ from_status }) => from_status === "cancelled");
  return {
    later: rows.filter(({ key }) => key !== null && skipped.includes(key)),
    async committed() {
      if (freed.length > 0) observe({ event: "children_released", count: freed.length });
      if (revived.length > 0) observe({ event: "children_revived", count: revived.length });
      for (const { id, type, queue, tenant } of cancelled)
        observe({ event: "job_cancelled", job_id: id, job_type: type, queue, tenant, was: "blocked" });
      await released({
        ready: freed.filter(({ to_status }) => to_status === "queued"),
        cancelled: cancelled.map(({ id }) => id),
      });
    },
  };
}

type Moved = ReadyJob & {
  type: string;
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
                      FROM atlasqueue.jobs AS parent WHERE parent.id = failed_parent)`;

// Every statement that changes an edge also writes a row for its child, so a statement that comes after that row was taken
// sees the change: of two parents that end at once, the later row sees both. Edges are never added to a job that has none, so
// one without any is ready whatever else happens. The jobs are locked before this statement begins. What belongs to a job
// in `flow_jobs` is written only by statements that have locked the job, so only a session that is not ours can hold it.
const text = composed(
  "flows/release-children",
  ["ids"],
  `
  WITH parts AS MATERIALIZED (
    SELECT job_id, cancelled_by FROM atlasqueue.flow_jobs WHERE job_id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
  ), children AS MATERIALIZED (
    SELECT child.*, parts.cancelled_by,
           (SELECT true FROM atlasqueue.flow_edges WHERE flow_edges.child = child.id LIMIT 1) AS waits,
           (SELECT parent FROM atlasqueue.flow_edges WHERE flow_edges.child = child.id AND failed LIMIT 1) AS failed_parent
    FROM parts CROSS JOIN LATERAL (
      SELECT id, status, group_seq, group_key, run_at FROM atlasqueue.jobs WHERE jobs.id = parts.job_id OFFSET 0) AS child
    WHERE status = 'cancelled' OR group_seq = 0
  ), decided AS MATERIALIZED (
    SELECT *, CASE WHEN move = 'cancel' THEN 'cancelled' WHEN move = 'revive' OR group_key IS NOT NULL THEN 'blocked'
                   WHEN run_at > now() THEN 'scheduled' ELSE 'queued' END AS becomes
    FROM (
      SELECT *, CASE WHEN failed_parent IS NOT NULL THEN CASE WHEN status = 'blocked' THEN 'cancel' END
                     WHEN status = 'cancelled' AND cancelled_by IS NULL THEN NULL
                     WHEN waits IS NULL THEN 'release'
                     WHEN status = 'cancelled' THEN 'revive' END AS move
      FROM children) AS child
    WHERE move IS NOT NULL
  ), moved AS (
    UPDATE atlasqueue.jobs SET status = becomes, group_seq = CASE WHEN becomes = 'blocked' THEN 0 END,
                    ready_at = CASE WHEN becomes = 'queued' THEN now() END,
                    due_at = CASE WHEN becomes = 'scheduled' THEN jobs.run_at END,
                    run_at = greatest(jobs.run_at, now()), updated_at = now(),
                    expires_at = CASE WHEN becomes <> 'cancelled' THEN expires_at END,
                    finished_at = CASE WHEN becomes = 'cancelled' THEN now() END,
                    last_error = CASE WHEN becomes = 'cancelled' THEN ${whyCancelled} END
    FROM decided WHERE jobs.id = decided.id AND jobs.id = ANY(ARRAY(SELECT id FROM decided))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.priority, jobs.group_key, jobs.has_children, move,
              failed_parent, decided.status AS from_status, becomes AS to_status
  ), remembered AS (
    UPDATE atlasqueue.flow_jobs SET cancelled_by = moved.failed_parent FROM moved
    WHERE flow_jobs.job_id = moved.id AND flow_jobs.job_id = ANY(ARRAY(SELECT id FROM decided))
      AND flow_jobs.cancelled_by IS DISTINCT FROM moved.failed_parent
  ), admissions AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    SELECT 'admit', tenant, id::text, ${groupLane("moved")}, '{"counted": true}' FROM moved
    WHERE move = 'release' AND to_status = 'blocked' ORDER BY id
  ), changed AS (
    SELECT * FROM moved WHERE 'cancelled' IN (from_status, to_status)
  ), ${noteParents("changed")}, counted_moves AS (
    SELECT * FROM moved WHERE from_status <> to_status
  ), ${countMixedMoves("counted_moves")}
  SELECT (SELECT json_agg(job_id) FROM atlasqueue.flow_jobs
          WHERE job_id = ANY($1::uuid[]) AND job_id NOT IN (SELECT job_id FROM parts)) AS skipped,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'type', type, 'priority', priority,
                                            'move', move, 'from_status', from_status, 'to_status', to_status) ORDER BY id)
          FROM moved) AS moved`,
);
