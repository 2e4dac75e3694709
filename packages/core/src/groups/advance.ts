import { composed } from "../database/composed.ts";
import { unindexed } from "../database/literals.ts";
import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { countChanges } from "../counts/changes.ts";
import { holderOf, slotsOf } from "./join.ts";
import type { Form } from "../database/skip-locked.ts";

/**
 * `handovers` is how many notes were dealt with; there may be more if it reaches the limit. `left` is true when there
 * are others, of groups that another process has locked: come back for them. Signal what is `ready`.
 */
export type Advanced = { handovers: number; left: boolean; ready: ReadyJob[] };

/**
 * blocked → queued | scheduled: the next job of each group in which one has finished. Groups with none left are
 * forgotten. One statement that waits for no one: a note that is locked is skipped, and so is a group that is, or has a
 * locked job; then its note stays. Not synced to disk, as a crash that forgets this keeps the note that asks for it.
 *
 * @example
 * const { ready } = await advanceGroups(deps, 500);
 */
export async function advanceGroups(deps: Deps, handovers_max: number): Promise<Advanced> {
  const { looked_at, ...first } = await pass(deps, "quick", handovers_max);
  // Notes of groups whose next jobs are locked fill the page and may hide others.
  if (looked_at < handovers_max || first.handovers === looked_at) return first;
  const rest = await pass(deps, "careful", handovers_max);
  return { handovers: first.handovers + rest.handovers, left: rest.left, ready: [...first.ready, ...rest.ready] };
}

async function pass(deps: Deps, form: Form, handovers_max: number): Promise<Advanced & { looked_at: number }> {
  type Row = { looked_at: number; handovers: number; left: boolean; released: Released[] | null };
  const [row] = await executeOn(deps.database)<Row>({ text: texts[form], params: [handovers_max] });
  const released = row?.released ?? [];
  if (released.length > 0) deps.observe({ event: "groups_advanced", count: released.length });
  const ready = released.filter(({ status }) => status === "queued");
  return { looked_at: row?.looked_at ?? 0, handovers: row?.handovers ?? 0, left: row?.left ?? false, ready };
}

type Released = ReadyJob & { status: "queued" | "scheduled" };

/** LATERAL and a sub-select for each note: as a join it could be planned as a scan of all groups. */
const groupOfNote = (columns: string, lock: string) => `LATERAL (
      SELECT ${columns} FROM job_groups AS one
      WHERE one.tenant = note.tenant AND one.queue = note.queue AND one.group_key = note.group_key ${lock}
    )`;

// `seen` is the group as this statement's snapshot has it, and `locked` as it is now. Where they differ, someone added
// to it or handed it on meanwhile, and this snapshot does not know its jobs: the note stays for the next look. So does
// the note of a group whose next job is locked: skipping just the job would break the order. `still` are those let
// through before that have not finished, and the one that a settlement passed the turn of one of them on to
// (`take-next.ts`). The jobs are found by `= ANY`, never by a join, which PostgreSQL could plan as a scan of the whole
// table.
const stillOpen = (row: string, heads: string) => `ARRAY(
        SELECT jobs.id FROM jobs
        WHERE jobs.id = ANY(${heads} || ARRAY(${holderOf(row)})) AND jobs.status IN ('scheduled', 'queued', 'running', 'failed'))`;
const quick = `
  noted AS MATERIALIZED (
    SELECT note.ctid AS note, seen.tenant, seen.queue, seen.group_key, seen.heads
    FROM group_handovers AS note
    LEFT JOIN ${groupOfNote("*", "OFFSET 0")} AS seen ON true
    LEFT JOIN ${groupOfNote("last_seq, heads", "FOR UPDATE SKIP LOCKED")} AS locked ON true
    WHERE ${unsynced} AND (seen.tenant IS NULL OR (locked.last_seq, locked.heads) = (seen.last_seq, seen.heads))
    LIMIT $1::int FOR UPDATE OF note SKIP LOCKED
  ), held AS MATERIALIZED (
    SELECT DISTINCT ON (tenant, queue, group_key) tenant, queue, group_key, ${slotsOf("noted")} AS slots,
           ${stillOpen("noted", "noted.heads")} AS still
    FROM noted WHERE tenant IS NOT NULL ORDER BY tenant, queue, group_key
  ), wanted AS MATERIALIZED (
    SELECT held.*, ARRAY(
      SELECT id FROM jobs
      WHERE jobs.tenant = held.tenant AND jobs.queue = held.queue AND jobs.group_key = held.group_key AND blocked_seq > 0
      ORDER BY blocked_seq LIMIT greatest(0, slots - cardinality(still))) AS ids
    FROM held
  ), had AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM wanted)) AND ${unindexed("blocked_seq")} > 0
    FOR UPDATE SKIP LOCKED
  ), next AS MATERIALIZED (
    SELECT * FROM wanted WHERE NOT EXISTS (
      SELECT FROM unnest(wanted.ids) AS one(id) WHERE one.id NOT IN (SELECT id FROM had))
  )`;

// The same, but notes whose next jobs are locked do not count: the jobs are locked note by note, before the LIMIT.
const careful = `
  noted AS MATERIALIZED (
    SELECT note.ctid AS note, seen.tenant, seen.queue, seen.group_key, turn.still, wanted.ids
    FROM group_handovers AS note
    LEFT JOIN ${groupOfNote("*", "OFFSET 0")} AS seen ON true
    LEFT JOIN ${groupOfNote("last_seq, heads", "FOR UPDATE SKIP LOCKED")} AS locked ON true
    CROSS JOIN LATERAL (
      SELECT ${slotsOf("seen")} AS slots,
             ${stillOpen("seen", "locked.heads")} AS still
      WHERE seen.tenant IS NULL OR (locked.last_seq, locked.heads) = (seen.last_seq, seen.heads) OFFSET 0
    ) AS turn
    CROSS JOIN LATERAL (
      SELECT ARRAY(
        SELECT id FROM jobs
        WHERE jobs.tenant = seen.tenant AND jobs.queue = seen.queue AND jobs.group_key = seen.group_key AND blocked_seq > 0
        ORDER BY blocked_seq LIMIT greatest(0, turn.slots - cardinality(turn.still))) AS ids OFFSET 0
    ) AS wanted
    CROSS JOIN LATERAL (
      SELECT ARRAY(
        SELECT id FROM jobs WHERE id = ANY(wanted.ids) AND ${unindexed("blocked_seq")} > 0 FOR UPDATE SKIP LOCKED) AS ids OFFSET 0
    ) AS had
    WHERE ${unsynced} AND cardinality(had.ids) = cardinality(wanted.ids)
    LIMIT $1::int FOR UPDATE OF note SKIP LOCKED
  ), next AS MATERIALIZED (
    SELECT DISTINCT ON (tenant, queue, group_key) tenant, queue, group_key, still, ids
    FROM noted WHERE tenant IS NOT NULL ORDER BY tenant, queue, group_key
  )`;

const textOf = (next: string) => `
  WITH ${next}, released AS (
    UPDATE jobs SET status = CASE WHEN run_at > statement_timestamp() THEN 'scheduled' ELSE 'queued' END, blocked_seq = NULL,
                    ready_at = CASE WHEN run_at > statement_timestamp() THEN NULL ELSE now() END,
                    due_at = CASE WHEN run_at > statement_timestamp() THEN run_at END,
                    holds_group = CASE WHEN ${slotsOf("jobs")} = 1 THEN group_key END, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM next))
    RETURNING id, tenant, queue, priority, status
  ), kept AS (
    UPDATE job_groups SET heads = still || ids FROM next
    WHERE job_groups.tenant = next.tenant AND job_groups.queue = next.queue AND job_groups.group_key = next.group_key
      AND cardinality(still || ids) > 0
  ), forgotten AS (
    DELETE FROM job_groups USING next
    WHERE job_groups.tenant = next.tenant AND job_groups.queue = next.queue AND job_groups.group_key = next.group_key
      AND cardinality(still || ids) = 0
  ), gone AS (
    DELETE FROM group_handovers WHERE ctid = ANY(ARRAY(
      SELECT note FROM noted WHERE tenant IS NULL OR (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM next)))
    RETURNING ctid
  ), ${countChanges("released", {
    blocked: "-count(*)",
    queued: "count(*) FILTER (WHERE status = 'queued')",
    scheduled: "count(*) FILTER (WHERE status = 'scheduled')",
  })}
  SELECT (SELECT count(*)::int FROM noted) AS looked_at, (SELECT count(*)::int FROM gone) AS handovers,
         EXISTS (SELECT FROM group_handovers WHERE ctid NOT IN (SELECT ctid FROM gone)) AS left,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status))
          FROM released) AS released`;
const texts: Record<Form, string> = {
  quick: composed("groups/advance", ["handovers_max"], textOf(quick)),
  careful: composed("groups/advance-carefully", ["handovers_max"], textOf(careful)),
};
