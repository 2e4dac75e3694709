import { isLocked } from "../database/errors.ts";
import { textArray } from "../database/literals.ts";
import { inTransaction, notHeldIdle } from "../database/transaction.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { countChanges } from "./count-changes.ts";
import { groupOrder, slotsOf } from "./join-groups.ts";

/** `handovers` is how many were taken; as many as the limit means there may be more. Signal what is `ready`. */
export type Advanced = { handovers: number; ready: ReadyJob[] };

/**
 * blocked → queued | scheduled: the next job of each group of which one has finished. Groups that have none left are
 * forgotten. Two statements, as the second must see what was committed while the first waited for a group's row; not
 * synced to disk, as a crash forgets this together with the note that it is to be done.
 *
 * @example
 * const { ready } = await advanceGroups(deps, 500);
 */
export async function advanceGroups(deps: Deps, handovers_max: number): Promise<Advanced> {
  try {
    return await advance(deps, handovers_max, waitingForLocks);
  } catch (error) {
    // Somebody's open transaction adds to one of the groups: the others go on, that one when it has ended.
    if (!isLocked(error)) throw error;
    return advance(deps, handovers_max, passingOverLocked);
  }
}

type Group = { tenant: string; queue: string; group_key: string };
type Released = ReadyJob & { status: "queued" | "scheduled" };

async function advance(deps: Deps, handovers_max: number, lock: string): Promise<Advanced> {
  return inTransaction(deps.database, async (execute) => {
    const rows = await execute<{ handovers: number } & (Group | { group_key: null })>({
      text: lock,
      params: [handovers_max],
    });
    const handovers = rows[0]?.handovers ?? 0;
    const groups = rows.filter((row): row is Group & { handovers: number } => row.group_key !== null);
    if (groups.length === 0) return { handovers, ready: [] };
    const params = (["tenant", "queue", "group_key"] as const).map((column) =>
      textArray(groups.map((one) => one[column])),
    );
    const released = await execute<Released>({ text: letThrough, params });
    if (released.length > 0) deps.observe({ event: "groups_advanced", count: released.length });
    return { handovers, ready: released.filter(({ status }) => status === "queued") };
  });
}

// The rows of the groups are locked in one order over all processes, so that nobody deadlocks with those that add jobs.
const lockGroups = (taken: string) => `
  WITH ${taken}, gone AS (
    DELETE FROM group_handovers WHERE ctid IN (SELECT ctid FROM taken)
  ), locked AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM job_groups
    WHERE (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM taken)
    ORDER BY ${groupOrder("job_groups")} FOR UPDATE
  )
  SELECT locked.*, (SELECT count(*)::int FROM taken) AS handovers FROM (SELECT) AS always LEFT JOIN locked ON true`;

const waitingForLocks = lockGroups(`taken AS MATERIALIZED (
    SELECT ctid, tenant, queue, group_key FROM group_handovers
    WHERE ${unsynced} AND ${notHeldIdle} AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
    LIMIT $1::int FOR UPDATE SKIP LOCKED
  )`);

const passingOverLocked = lockGroups(`free AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM job_groups
    WHERE ${unsynced} AND ${notHeldIdle} AND (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM group_handovers LIMIT $1::int)
    FOR UPDATE SKIP LOCKED
  ), taken AS MATERIALIZED (
    SELECT ctid, tenant, queue, group_key FROM group_handovers
    WHERE (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM free)
    LIMIT $1::int FOR UPDATE SKIP LOCKED
  )`);

// `still` are those let through before that have not finished. FOR UPDATE passes over a job that is being cancelled, to
// the one after it: a group is forgotten only when there is none. The jobs are found by `= ANY`, never by a join, which
// PostgreSQL could plan as a reading of the whole table.
const letThrough = `
  WITH held AS MATERIALIZED (
    SELECT job_groups.*, ${slotsOf("job_groups")} AS slots,
           ARRAY(SELECT jobs.id FROM jobs WHERE jobs.id = ANY(job_groups.heads)
                 AND jobs.status IN ('scheduled', 'queued', 'running', 'failed')) AS still
    FROM unnest($1::text[], $2::text[], $3::text[]) AS locked(tenant, queue, group_key)
    JOIN job_groups USING (tenant, queue, group_key)
  ), next AS MATERIALIZED (
    SELECT held.*, ARRAY(
      SELECT id FROM jobs
      WHERE jobs.tenant = held.tenant AND jobs.queue = held.queue AND jobs.group_key = held.group_key AND blocked_seq IS NOT NULL
      ORDER BY blocked_seq LIMIT greatest(0, slots - cardinality(still)) FOR UPDATE) AS ids
    FROM held
  ), released AS (
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
  ), ${countChanges("released", {
    blocked: "-count(*)",
    queued: "count(*) FILTER (WHERE status = 'queued')",
    scheduled: "count(*) FILTER (WHERE status = 'scheduled')",
  })}
  SELECT id, tenant, queue, priority, status FROM released`;
