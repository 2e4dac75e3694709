import { countChanges } from "../counts/changes.ts";
import { unindexed } from "../database/literals.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { holderOf, slotsOf } from "./join.ts";

const sameGroup = (one: string, other: string) =>
  ["tenant", "queue", "group_key"].map((column) => `${one}.${column} = ${other}.${column}`).join(" AND ");

/** The jobs let through before that have not finished, and the one that a settlement passed a turn on to (`take-next.ts`). */
const stillOpen = `ARRAY(
        SELECT jobs.id FROM jobs
        WHERE jobs.id = ANY(seen.heads || ARRAY(${holderOf("seen")})) AND jobs.status IN ('scheduled', 'queued', 'running', 'failed'))`;

/** What one statement can do where much of a group may run at once; of what is more than that, one group, whatever it has. */
const bounds = {
  /** Jobs let through, of groups with more than their share of it: each takes some 25 microseconds. */
  jobs: 2_000,
  /** Jobs let through before that have to be looked at, of groups with more than `few`: some 8 microseconds each. */
  heads: 5_000,
  /** So many for each group of a page have room in any case. */
  few: 10,
};

/** The first jobs that wait in a group. */
const firstBlocked = (jobs_max: string) => `ARRAY(
      SELECT id FROM jobs WHERE ${sameGroup("jobs", "seen")} AND blocked_seq > 0 ORDER BY blocked_seq LIMIT ${jobs_max})`;

/**
 * Parts of a WITH that hand on the groups of the notes in `page`, which has the place of each as `note`, and locks them.
 * `released` then has the jobs that may go, `gone` the notes dealt with, and `stuck` the groups that cannot go on now:
 * they, or their next jobs, are locked. Each note of a page costs the same, whatever others have locked.
 *
 * `unread` are groups left for another look, as one statement cannot do it all where thousands of each may run at once:
 * some of those that have let many through, or may let many through now. How many wait in a group is known from its places,
 * but for those that were cancelled. Tenants take turns, and chance decides among their groups, so that none is always left
 * out. All others are dealt with in any case. A group gets all the jobs that it has room for: otherwise those added next
 * would have the rest of it.
 *
 * `wanted` are the groups as this statement's snapshot has them, and `locked` as they are now. Where they differ, someone
 * handed one on meanwhile, or added to one that has room for more than this snapshot has jobs for. A group whose next job
 * is locked is stuck as a whole: skipping just the job would break the order. Its row is not locked then, which would write
 * to it for nothing. Rows are found by LATERAL, `= ANY` and the conflict over a key, never by a join: that could be planned as a
 * scan of the whole table, with all that ever was there while somebody's snapshot is open. Where a group is over, its row is
 * found by its place, so that it must be the very one that was seen.
 */
export const handOn = `
  noted AS MATERIALIZED (
    SELECT seen.*, row_number() OVER (PARTITION BY seen.tenant ORDER BY random()) AS turn
    FROM (SELECT DISTINCT tenant, queue, group_key FROM page) AS note
    CROSS JOIN LATERAL (SELECT *, one.ctid AS spot FROM job_groups AS one WHERE ${sameGroup("one", "note")} OFFSET 0) AS seen
  ), weighed AS MATERIALIZED (
    SELECT *, row_number() OVER in_turn AS place,
           coalesce(sum(size) FILTER (WHERE size > ${bounds.few}) OVER (in_turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM noted, LATERAL (SELECT pg_column_size(heads) / 16 AS size OFFSET 0) AS stored
    WINDOW in_turn AS (ORDER BY turn, random())
  ), looked_into AS MATERIALIZED (
    SELECT seen.*, still, room, ids, room > share AND cardinality(ids) = share AS has_more
    FROM (
      SELECT *, greatest(1, ${bounds.jobs} / count(*) OVER ()) AS share FROM weighed
      WHERE size <= ${bounds.few} OR before < ${bounds.heads}) AS seen
    CROSS JOIN LATERAL (SELECT ${slotsOf("seen")} AS slots, ${stillOpen} AS still OFFSET 0) AS now
    CROSS JOIN LATERAL (SELECT greatest(0, slots - cardinality(still)) AS room OFFSET 0) AS places
    CROSS JOIN LATERAL (SELECT ${firstBlocked("least(room, share)")} AS ids OFFSET 0) AS waiting
  ), many AS MATERIALIZED (
    SELECT tenant, queue, group_key, sum(jobs) OVER (ORDER BY place) - jobs AS before FROM (
      SELECT *, greatest(share, least(room, last_seq + 1 - (SELECT blocked_seq FROM jobs WHERE id = ids[1]))) AS jobs
      FROM looked_into WHERE has_more) AS at_most
  ), wanted AS MATERIALIZED (
    SELECT tenant, queue, group_key, spot, last_seq, admitted, heads, still, room, ids FROM looked_into WHERE NOT has_more
    UNION ALL
    SELECT tenant, queue, group_key, spot, last_seq, admitted, heads, still, room, ${firstBlocked("room")}
    FROM looked_into AS seen
    WHERE (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM many WHERE before < ${bounds.jobs})
  ), unread AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM noted EXCEPT SELECT tenant, queue, group_key FROM wanted
  ), free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM wanted)) AND ${unindexed("blocked_seq")} > 0
    FOR UPDATE SKIP LOCKED
  ), able AS MATERIALIZED (
    SELECT * FROM wanted WHERE NOT EXISTS (
      SELECT FROM unnest(wanted.ids) AS one(id) WHERE one.id NOT IN (SELECT id FROM free))
  ), next AS MATERIALIZED (
    SELECT able.* FROM able CROSS JOIN LATERAL (
      SELECT ctid AS spot, last_seq, heads FROM job_groups AS one WHERE ${sameGroup("one", "able")} FOR UPDATE SKIP LOCKED) AS locked
    WHERE locked.heads = able.heads AND (locked.last_seq = able.last_seq OR cardinality(ids) = room)
      AND (locked.spot = able.spot OR cardinality(still || ids) > 0)
  ), released AS (
    UPDATE jobs SET status = CASE WHEN run_at > statement_timestamp() THEN 'scheduled' ELSE 'queued' END, blocked_seq = NULL,
                    ready_at = CASE WHEN run_at > statement_timestamp() THEN NULL ELSE now() END,
                    due_at = CASE WHEN run_at > statement_timestamp() THEN run_at END,
                    holds_group = CASE WHEN ${slotsOf("jobs")} = 1 THEN group_key END, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM next))
    RETURNING id, tenant, queue, priority, status
  ), kept AS (
    INSERT INTO job_groups (tenant, queue, group_key, last_seq, admitted, heads)
    SELECT tenant, queue, group_key, last_seq, admitted, still || ids FROM next WHERE cardinality(still || ids) > 0
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET heads = excluded.heads
  ), forgotten AS (
    DELETE FROM job_groups WHERE ctid = ANY(ARRAY(SELECT spot FROM next WHERE cardinality(still || ids) = 0))
  ), stuck AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM wanted EXCEPT SELECT tenant, queue, group_key FROM next
  ), gone AS (
    DELETE FROM group_handovers WHERE ctid = ANY(ARRAY(
      SELECT note FROM page WHERE (tenant, queue, group_key) NOT IN (SELECT * FROM stuck UNION ALL SELECT * FROM unread)))
    RETURNING ctid
  ), ${countChanges("released", {
    blocked: "-count(*)",
    queued: "count(*) FILTER (WHERE status = 'queued')",
    scheduled: "count(*) FILTER (WHERE status = 'scheduled')",
  })}`;

/** What a statement with `handOn` returns of it. */
export const handedOn = `(SELECT count(*)::int FROM page) AS looked_at, (SELECT count(*)::int FROM gone) AS handovers,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status))
          FROM released) AS released`;
export type HandedOn = { looked_at: number; handovers: number; released: Released[] | null };
type Released = ReadyJob & { status: "queued" | "scheduled" };

/** Those to be signalled. */
export function readyOf({ observe }: Pick<Deps, "observe">, released: readonly Released[]): ReadyJob[] {
  if (released.length > 0) observe({ event: "groups_advanced", count: released.length });
  return released.filter(({ status }) => status === "queued");
}
