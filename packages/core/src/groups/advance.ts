import { countChanges } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { textArray, unindexed } from "../database/literals.ts";
import { passingOverLocked, type Form } from "../database/skip-locked.ts";
import type { Execute, Statement } from "../database/statement.ts";
import { inTransaction, notHeldHalfSent, notHeldIdle, notHeldUnread, sentTogether } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import { claim_bytes_max, payloadBytes } from "../lease/payload-bytes.ts";
import { leaseColumns, type Width } from "../lease/take-leases.ts";
import { isLimited } from "../limits/room.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { groupOrder, holderOf, sameGroup, slotsOf } from "./join.ts";

// What ends a job of a group does so in three statements of one transaction: the end itself, `lockGroups`, and
// `advanceGroups`, whose snapshot has all that others did before they let go of the groups. All transactions lock jobs
// first and then groups, and the next jobs of a group only if nobody else holds them: so none waits in a circle.

/** A group, or a job of it. */
export type GroupRef = { tenant: string; queue: string; group_key: string | null };

/** A job that `advanceGroups` let through. */
export type LetThrough = ReadyJob & { status: "queued" | "scheduled"; group_key: string };
export type Advanced = { through: LetThrough[] | null };

const paramsOf = (groups: readonly GroupRef[]): [string, string, string] => [
  textArray(groups.map(({ tenant }) => tenant)),
  textArray(groups.map(({ queue }) => queue)),
  textArray(groups.map(({ group_key }) => group_key)),
];
const groupParameters = ["tenants", "queues", "group_keys"];
const given = "unnest($1::text[], $2::text[], $3::text[])";

/** Locks the rows of groups, in the order of all. It waits for those that others hold. */
export const lockGroups = (groups: readonly GroupRef[]): Statement => ({ text: lock, params: paramsOf(groups) });

/** Lets the next jobs of groups through that are locked in the same transaction, as many as there is room for. */
export const advanceGroups = (groups: readonly GroupRef[]): Statement => ({ text: advance, params: paramsOf(groups) });

/**
 * The same, and of the groups of the `after` jobs the next one is leased. Not if its queue is paused, has limits, has its
 * groups take turns, or lets several jobs of a group run; nor if it is not due; nor once the payloads together are as many
 * bytes as a claim may have.
 */
export const advanceAndLease = (
  groups: readonly GroupRef[],
  after: readonly GroupRef[],
  { lease_token, worker_id, lease_seconds }: { lease_token: string; worker_id: string; lease_seconds: number },
  width: Width,
): Statement => {
  const asked = new Set(after);
  const leases = textArray(groups.map((one) => String(asked.has(one))));
  return { text: leasing[width], params: [...paramsOf(groups), leases, lease_token, worker_id, lease_seconds] };
};

/**
 * Ends jobs of `groups`, in two `forms` of the statement that does it, and lets the next of each through. A batch waits
 * for a locked group for 200 ms; then the form goes that passes over jobs of locked groups, and only the groups of the jobs
 * that `endedIn` finds in its answer are advanced.
 */
export async function endInGroups<Row>(
  { database, observe }: Pick<Deps, "database" | "observe">,
  groups: readonly GroupRef[],
  forms: Record<Form, Statement>,
  endedIn: (rows: readonly Row[]) => readonly GroupRef[],
): Promise<{ rows: readonly Row[]; ready: LetThrough[] }> {
  const send = async (form: Form) => {
    if (form === "careful")
      return inTransaction(database, async (execute) => {
        const rows = await execute<Row>(forms.careful);
        return { rows, through: await advanceIn(execute, endedIn(rows)) };
      });
    const [rows, , [advanced]] = (await sentTogether(database, [
      forms.quick,
      lockGroups(groups),
      advanceGroups(groups),
    ])) as [readonly Row[], unknown, readonly Advanced[]];
    return { rows, through: advanced?.through ?? [] };
  };
  const { rows, through } = await passingOverLocked(send);
  return { rows, ready: readyOf({ observe }, through) };
}

/** In a transaction that has them locked. */
export async function advanceIn(execute: Execute, groups: readonly GroupRef[]): Promise<LetThrough[]> {
  if (groups.length === 0) return [];
  const [advanced] = await execute<Advanced>(advanceGroups(groups));
  return advanced?.through ?? [];
}

/** Those to be signalled. */
export function readyOf({ observe }: Pick<Deps, "observe">, through: readonly LetThrough[]): LetThrough[] {
  if (through.length > 0) observe({ event: "groups_advanced", count: through.length });
  return through.filter(({ status }) => status === "queued");
}

/** Those of them that are of the group of each job; of several jobs of one group, the first has them. */
export function sharedOut<Job extends GroupRef>(jobs: readonly Job[], ready: readonly LetThrough[]) {
  const nameOf = ({ tenant, queue, group_key }: GroupRef) => `${tenant}\0${queue}\0${group_key}`;
  const of = Map.groupBy(ready, nameOf);
  return (job: Job): readonly ReadyJob[] => {
    const own = of.get(nameOf(job)) ?? [];
    of.delete(nameOf(job));
    return own;
  };
}

const lock = composed(
  "groups/lock",
  groupParameters,
  `
  WITH ordered AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM ${given} AS one(tenant, queue, group_key)
    WHERE ${notHeldIdle} AND ${notHeldHalfSent(10_000)}
    GROUP BY tenant, queue, group_key ORDER BY ${groupOrder("one")}
  )
  SELECT count(*)::int AS locked FROM ordered CROSS JOIN LATERAL (
    SELECT FROM atlasqueue.job_groups AS one WHERE ${sameGroup("one", "ordered")} FOR UPDATE) AS locked`,
);

/** Jobs let through in one statement, of groups with room for more than their share of them. */
const jobs_max = 2_000;

/** The jobs let through before that have not ended, and the one that has the turn of its group. */
const stillOpen = `ARRAY(
        SELECT jobs.id FROM atlasqueue.jobs
        WHERE jobs.id = ANY(seen.heads || ARRAY(${holderOf("seen")})) AND jobs.status IN ('scheduled', 'queued', 'running', 'failed'))`;

const isGoneOnWith = `
      SELECT through.goes[1] FROM through WHERE leases AND slots = 1 AND cardinality(goes) = 1 AND NOT EXISTS (
        SELECT FROM atlasqueue.queues WHERE queues.tenant = through.tenant AND queues.queue = through.queue
          AND (paused_at IS NOT NULL OR fair_by IS NOT NULL OR ${isLimited}))`;

const lease = (width: Width) => `
  ), weighed AS MATERIALIZED (
    SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM (
      SELECT id, ${payloadBytes} AS bytes FROM atlasqueue.jobs WHERE id = ANY(ARRAY(${isGoneOnWith})) AND run_at <= statement_timestamp()) AS due
  ), takes AS MATERIALIZED (
    SELECT id FROM weighed WHERE before < ${claim_bytes_max}
  ), leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', group_seq = NULL, active_group_key = group_key, attempts = attempts + 1,
                    lease_token = $5::text::uuid, worker_id = $6,
                    started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $7::float8)
    WHERE id = ANY(ARRAY(SELECT id FROM takes)) AND ${notHeldUnread}
    RETURNING ${width === "whole" ? "*" : `tenant, ${leaseColumns[width]}`}
  ), batch AS (
    INSERT INTO atlasqueue.claims (token, worker_id, check_at, job_ids)
    SELECT $5::text::uuid, $6, statement_timestamp() + make_interval(secs => $7::float8), array_agg(id)
    FROM leased HAVING count(*) > 0`;

// A group whose next job another transaction holds waits as a whole, as passing over just that job would break the order;
// it is overdue then, as is one that has room for more than its share: the sweep looks again. Rows are found by LATERAL, `= ANY` and the
// conflict over a key, never by a join: that could be planned as a scan of the whole table. A group whose one turn passes
// to its next job keeps its row as it is: `heads` then names an earlier job, which stands for the one that has `active_group_key`.
const advancing = (width?: Width) => `
  WITH named AS MATERIALIZED (
    SELECT tenant, queue, group_key, ${width ? "bool_or(leases)" : "false"} AS leases
    FROM ${width ? "unnest($1::text[], $2::text[], $3::text[], $4::bool[])" : given} AS one(tenant, queue, group_key${width ? ", leases" : ""})
    GROUP BY tenant, queue, group_key
  ), looked_into AS MATERIALIZED (
    SELECT seen.*, slots, still, ids, room > share AND cardinality(ids) = share AS has_more
    FROM (
      SELECT seen.*, leases, greatest(1, ${jobs_max} / count(*) OVER ()) AS share FROM named
      CROSS JOIN LATERAL (SELECT *, one.ctid AS spot FROM atlasqueue.job_groups AS one WHERE ${sameGroup("one", "named")} OFFSET 0) AS seen) AS seen
    CROSS JOIN LATERAL (SELECT ${slotsOf("seen")} AS slots, ${stillOpen} AS still OFFSET 0) AS now
    CROSS JOIN LATERAL (SELECT greatest(0, slots - cardinality(still)) AS room OFFSET 0) AS places
    CROSS JOIN LATERAL (SELECT ARRAY(
      SELECT id FROM atlasqueue.jobs WHERE ${sameGroup("jobs", "seen")} AND group_seq > 0 ORDER BY group_seq LIMIT least(room, share)
    ) AS ids OFFSET 0) AS waiting
  ), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM looked_into)) AND ${unindexed("group_seq")} > 0
    FOR UPDATE SKIP LOCKED
  ), through AS MATERIALIZED (
    SELECT looked_into.*, CASE WHEN is_held THEN '{}'::uuid[] ELSE ids END AS goes,
           CASE WHEN is_held THEN now() + interval '500 ms' WHEN has_more THEN now() END AS overdue
    FROM looked_into CROSS JOIN LATERAL (
      SELECT EXISTS (SELECT FROM unnest(ids) AS one(id) WHERE one.id NOT IN (SELECT id FROM free)) AS is_held OFFSET 0) AS held${width ? lease(width) : ""}
  ), released AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN run_at > statement_timestamp() THEN 'scheduled' ELSE 'queued' END, group_seq = NULL,
                    ready_at = CASE WHEN run_at > statement_timestamp() THEN NULL ELSE now() END,
                    due_at = CASE WHEN run_at > statement_timestamp() THEN run_at END,
                    active_group_key = CASE WHEN ${slotsOf("jobs")} = 1 THEN group_key END, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT unnest(goes) FROM through${width ? " EXCEPT SELECT id FROM takes" : ""}))
    RETURNING id, tenant, queue, group_key, priority, status
  ), kept AS (
    INSERT INTO atlasqueue.job_groups (tenant, queue, group_key, last_seq, admitted, heads, overdue_at)
    SELECT tenant, queue, group_key, last_seq, admitted, still || goes, overdue FROM through
    WHERE overdue IS NOT NULL OR cardinality(still || goes) > 0
      AND NOT (slots = 1 AND cardinality(heads) = 1 AND cardinality(still || goes) = 1 AND overdue_at IS NULL)
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET heads = excluded.heads, overdue_at = excluded.overdue_at
  ), forgotten AS (
    DELETE FROM atlasqueue.job_groups WHERE ctid = ANY(ARRAY(SELECT spot FROM through WHERE overdue IS NULL AND cardinality(still || goes) = 0))
  ), ${countChanges(
    width
      ? "(SELECT tenant, queue, status FROM released UNION ALL SELECT tenant, queue, 'running' FROM leased) AS moved"
      : "released",
    {
      blocked: "-count(*)",
      queued: "count(*) FILTER (WHERE status = 'queued')",
      scheduled: "count(*) FILTER (WHERE status = 'scheduled')",
      ...(width && { running: "count(*) FILTER (WHERE status = 'running')" }),
    },
  )}, answer AS (
    SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'group_key', group_key,
                                      'priority', priority, 'status', status)) AS through
    FROM released
  )
  SELECT * FROM answer${width ? " LEFT JOIN leased ON true" : ""}`;

const advance = composed("groups/advance", groupParameters, advancing());
const andLease = (width: Width) =>
  composed(
    `groups/advance-and-lease-${width}`,
    [...groupParameters, "leases", "lease_token", "worker_id", "lease_seconds"],
    advancing(width),
  );
const leasing = { lease: andLease("lease"), traced: andLease("traced"), whole: andLease("whole") };
