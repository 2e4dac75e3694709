import { countChanges } from "../counts/changes.ts";
import { composed } from "../database/composed.ts";
import { hidden, textArray, unindexed } from "../database/literals.ts";
import { lockTimeout } from "../database/clauses.ts";
import { executeOn, type Execute, type Statement } from "../database/statement.ts";
import { stalledTxTimeout, idleTxTimeout, sentTogether } from "../database/transaction.ts";
import type { Deps } from "../deps.ts";
import type { ReadyJob } from "../signal/signal.ts";
import { groupOrder, holderOf, sameGroup, slotsOf, waitingIn } from "./join.ts";

// What ends a job of a group does so in three statements of one transaction: the end itself, `lockGroups`, and
// `advanceGroups`, whose snapshot has all that others did before they let go of the groups. All transactions lock jobs
// first and then groups, and the next jobs of a group only if nobody else holds them: so none waits in a circle.

/** A group, or a job of it. */
export type GroupRef = { tenant: string; queue: string; group_key: string | null };

/** A job that `advanceGroups` let through. */
export type LetThrough = ReadyJob & { status: "queued" | "scheduled"; group_key: string };
type Advanced = { through: LetThrough[] | null };

const groupParameters = ["tenants", "queues", "group_keys"];
/** The groups as rows. */
const groupInput = `unnest(${["$1", "$2", "$3"].map((one) => hidden(`${one}::text[]`)).join(", ")}) AS one(tenant, queue, group_key)`;
const paramsOf = (groups: readonly GroupRef[]): [string, string, string] => [
  textArray(groups.map(({ tenant }) => tenant)),
  textArray(groups.map(({ queue }) => queue)),
  textArray(groups.map(({ group_key }) => group_key)),
];

/** Locks the rows of groups, in the order of all. It waits 200 ms for those that others hold. */
const lockGroups = (groups: readonly GroupRef[]): Statement => ({ text: lock, params: paramsOf(groups) });

/** Lets the next jobs of groups through that are locked in the same transaction, as many as there is room for. */
const advanceGroups = (groups: readonly GroupRef[]): Statement => ({ text: advance, params: paramsOf(groups) });

/** What comes of an end: its answer, and the jobs let through. */
export type EndedInGroups<Row> = { answer: Row | undefined; through: LetThrough[] };

/**
 * Ends jobs by a statement that returns one row, and lets the next jobs of `groups` go on, in one transaction: the end,
 * the locks of the groups, the next jobs. Another transaction's lock refuses all of it after 200 ms.
 * See decisions/2026-11-28-groups-settled-together.md.
 *
 * @example
 * const { answer, through } = await endInGroups<Settlement>(deps, settlementOf(completions), leases);
 */
export async function endInGroups<Row>(
  { database, observe }: Pick<Deps, "database" | "observe">,
  end: Statement,
  groups: readonly GroupRef[],
): Promise<EndedInGroups<Row>> {
  if (groups.length === 0) {
    const [answer] = await executeOn(database)<Row>(end);
    return { answer, through: [] };
  }
  const [[answer], , [advanced]] = (await sentTogether(database, [end, lockGroups(groups), advanceGroups(groups)])) as [
    readonly Row[],
    unknown,
    readonly Advanced[],
  ];
  return { answer, through: readyOf({ observe }, advanced?.through ?? []) };
}

/** The same after an end in a transaction under way. */
export async function advanceAfter(execute: Execute, groups: readonly GroupRef[]): Promise<LetThrough[]> {
  if (groups.length > 0) await execute(lockGroups(groups));
  return advanceIn(execute, groups);
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
export function sharedOut(ready: readonly LetThrough[]) {
  const nameOf = ({ tenant, queue, group_key }: GroupRef) => `${tenant}\0${queue}\0${group_key}`;
  if (ready.length === 0) return () => ready;
  const of = Map.groupBy(ready, nameOf);
  return (job: GroupRef): readonly ReadyJob[] => {
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
    SELECT tenant, queue, group_key FROM ${groupInput}
    WHERE ${lockTimeout} AND ${idleTxTimeout} AND ${stalledTxTimeout(10_000)}
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

// A group whose next job another transaction holds waits as a whole, as passing over just that job would break the order;
// it is overdue then, as is one that has room for more than its share: the sweep looks again. Rows are found by LATERAL, `= ANY` and the
// conflict over a key, never by a join: that could be planned as a scan of the whole table. A group whose one turn passes
// to its next job keeps its row as it is: `heads` then names an earlier job, which stands for the one that has `active_group_key`.
const advance = composed(
  "groups/advance",
  groupParameters,
  `
  WITH named AS MATERIALIZED (
    SELECT DISTINCT tenant, queue, group_key FROM ${groupInput}
  ), looked_into AS MATERIALIZED (
    SELECT seen.*, slots, still, ids, room > share AND cardinality(ids) = share AS has_more
    FROM (
      SELECT seen.*, greatest(1, ${jobs_max} / count(*) OVER ()) AS share FROM named
      CROSS JOIN LATERAL (SELECT *, one.ctid AS spot FROM atlasqueue.job_groups AS one WHERE ${sameGroup("one", "named")} OFFSET 0) AS seen) AS seen
    CROSS JOIN LATERAL (SELECT ${slotsOf("seen")} AS slots, ${stillOpen} AS still OFFSET 0) AS now
    CROSS JOIN LATERAL (SELECT greatest(0, slots - cardinality(still)) AS room OFFSET 0) AS places
    CROSS JOIN LATERAL (SELECT ARRAY(${waitingIn("seen", "id", "least(room, share)")}) AS ids OFFSET 0) AS waiting
  ), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM looked_into)) AND ${unindexed("group_seq")} > 0
    FOR UPDATE SKIP LOCKED
  ), through AS MATERIALIZED (
    SELECT looked_into.*, CASE WHEN is_held THEN '{}'::uuid[] ELSE ids END AS goes,
           CASE WHEN is_held THEN now() + interval '500 ms' WHEN has_more THEN now() END AS overdue
    FROM looked_into CROSS JOIN LATERAL (
      SELECT EXISTS (SELECT FROM unnest(ids) AS one(id) WHERE one.id NOT IN (SELECT id FROM free)) AS is_held OFFSET 0) AS held
  ), released AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN run_at > statement_timestamp() THEN 'scheduled' ELSE 'queued' END, group_seq = NULL,
                    ready_at = CASE WHEN run_at > statement_timestamp() THEN NULL ELSE now() END,
                    due_at = CASE WHEN run_at > statement_timestamp() THEN run_at END,
                    active_group_key = CASE WHEN ${slotsOf("jobs")} = 1 THEN group_key END, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT unnest(goes) FROM through))
    RETURNING id, tenant, queue, group_key, priority, status
  ), kept AS (
    INSERT INTO atlasqueue.job_groups (tenant, queue, group_key, last_seq, admitted, heads, overdue_at)
    SELECT tenant, queue, group_key, last_seq, admitted, still || goes, overdue FROM through
    WHERE overdue IS NOT NULL OR cardinality(still || goes) > 0
      AND NOT (slots = 1 AND cardinality(heads) = 1 AND cardinality(still || goes) = 1 AND overdue_at IS NULL)
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET heads = excluded.heads, overdue_at = excluded.overdue_at
  ), forgotten AS (
    DELETE FROM atlasqueue.job_groups WHERE ctid = ANY(ARRAY(SELECT spot FROM through WHERE overdue IS NULL AND cardinality(still || goes) = 0))
  ), ${countChanges("released", {
    blocked: "-count(*)",
    queued: "count(*) FILTER (WHERE status = 'queued')",
    scheduled: "count(*) FILTER (WHERE status = 'scheduled')",
  })}
  SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'group_key', group_key,
                                    'priority', priority, 'status', status)) AS through
  FROM released`,
);
