import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { flowColumns, flowParameters, flowParams, parentsLocked, storeFlows } from "../flows/store-flow.ts";
import { noteParents } from "../outbox/notes.ts";
import { joinGroups, seatMembers } from "../groups/join.ts";
import { refuseIf, lockTimeout } from "../database/clauses.ts";
import {
  askedColumns,
  askedValues,
  inputParameters,
  inputParams,
  stateColumns,
  stateValues,
  type Draft,
  each,
  foundDefaults,
  queueDefaults,
  termColumns,
  termValues,
  withDefaults,
  type FoundDefaults,
} from "./insert-jobs.ts";
import { type Seen, replaced } from "./unique/plan.ts";

/** One draft in a statement, and what should become of it. */
export type Step = {
  draft: Draft;
  /**
   * `make`: it becomes a job. `join`: another job is the answer to it, which ends a pending one. `note`: only its
   * idempotency key is remembered.
   */
  role: "make" | "join" | "note";
  /** The job that its idempotency key stands for. */
  names: string;
  key_ttl_seconds: number;
  /** For one that makes a job: its unique key. */
  unique?: { key: string; window_seconds: number | null } | undefined;
  /** The job that gives its unique key to the new one, or is replaced. It must still be as it was seen. */
  seen?: Seen | null | undefined;
  /** What it asks for replaces what the job seen is; of those for the same job, one `writes`. */
  writes?: boolean | undefined;
  /** Why a pending job ends. */
  reason?: string | undefined;
};

/** `insert` is of new jobs, and `admit` of pending ones. */
type Mode = "insert" | "admit";

export type AppliedSubmissions = {
  created_at: Date;
  made: ReadonlyMap<string, MadeJob>;
  replaced: ReadonlyMap<string, ReplacedJob>;
  defaults: FoundDefaults;
};
type MadeJob = { id: string; status: "queued" | "scheduled" | "blocked"; run_at: Date };
type ReplacedJob = MadeJob & { was: string; ready_at: Date | null; due_at: Date | null; updated_at: Date };

/**
 * Carry out what a look at the keys decided, in one statement that checks whether what was seen still holds: so no lock
 * outlives it, and a process that stops between look and statement holds nothing. `insert` stores new jobs, with which of
 * them wait for one another; `admit` is for pending ones, whose rows are locked. It is all or nothing: it throws when
 * something was taken meanwhile (see `isTakenMeanwhile`), or another transaction keeps what it needs locked (see `isLocked`).
 * When that is a group's row, send it again with `postponed`: then the jobs of groups get their places after the commit.
 *
 * The lock order is the same in all statements that take jobs in: jobs that have unique keys, which no one waits for; then
 * idempotency keys, groups and new unique keys, each sorted.
 */
export async function applySubmissions(
  execute: Execute,
  steps: readonly Step[],
  mode: Mode,
  { postponed = false }: { postponed?: boolean | undefined } = {},
): Promise<AppliedSubmissions> {
  const drafts = steps.map(({ draft }) => draft);
  const ofJobs = mode === "insert" ? [...inputParams(drafts), ...flowParams(drafts), String(postponed)] : [];
  const [row] = await execute<Row>({ text: texts[mode], params: [...ofJobs, ...stepParams(steps)] });
  if (!row) throw new Error("the statement gave no row");
  const times = <T extends { run_at: string }>(one: T) => ({ ...one, run_at: new Date(one.run_at) });
  const date = (time: string | null) => (time === null ? null : new Date(time));
  return {
    created_at: new Date(row.created_at),
    defaults: row.defaults ?? [],
    made: new Map((row.made ?? []).map((one) => [one.id, times(one)])),
    replaced: new Map(
      (row.replaced ?? []).map((one) => [
        one.id,
        { ...times(one), ready_at: date(one.ready_at), due_at: date(one.due_at), updated_at: new Date(one.updated_at) },
      ]),
    ),
  };
}

type InText<T> = { [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] };
type Row = {
  created_at: Date | string;
  made: InText<MadeJob>[] | null;
  replaced: InText<ReplacedJob>[] | null;
  defaults?: FoundDefaults | null;
};

/** What a step says, a column each, with its type. */
const stepColumns = {
  step_of: "uuid",
  key: "text",
  hash: "text",
  ttl: "float8",
  makes: "boolean",
  names: "uuid",
  unique_key: "text",
  seen: "uuid",
  version: "text",
  window_seconds: "float8",
  writes: "boolean",
  reason: "text",
};
const stepNames = Object.keys(stepColumns);

function stepParams(steps: readonly Step[]) {
  const of = (read: (step: Step) => string | number | boolean | null | undefined) =>
    textArray(steps.map((one) => read(one)?.toString()));
  return [
    of(({ draft }) => draft.id),
    of(({ draft }) => draft.key),
    of(({ draft }) => draft.hash),
    of((one) => one.key_ttl_seconds),
    of((one) => one.role === "make"),
    of((one) => one.names),
    of(({ unique }) => unique?.key),
    of(({ seen }) => seen?.id),
    of(({ seen }) => seen?.version),
    of(({ unique }) => unique?.window_seconds),
    of((one) => one.writes),
    of((one) => one.reason),
  ];
}

const stepInput = (first: number) =>
  `unnest(${Object.values(stepColumns)
    .map((type, at) => `$${first + at}::${type}[]`)
    .join(", ")})`;
const jobNames = "queue, type, priority, max_attempts, timeout_seconds, run_at";

/** `asked` has a row for each step, with what its job is: that of a pending one is in its row. */
const asked = {
  insert: `
    SELECT id, ${each("tenant", "$2::text[]")}, ${each("queue", "$3::text[]")}, ${each("type", "$4::text[]")}, ${each("priority", "$5::smallint[]")},
      ${termValues}, group_key, payload, traceparent, tracestate,
      ref, on_parent_failure, flow_id, flow_place, spawned_by, parents, waits, ${stepNames.join(", ")}, place,
      greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
    FROM ROWS FROM (
      unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
             $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
      json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[]),
      unnest($15::text[], $16::text[], $17::uuid[], $18::integer[], $19::uuid[]), json_array_elements($20::text::json), unnest($21::boolean[]),
      ${stepInput(23)}
    ) WITH ORDINALITY AS input(id, tenant, ${jobNames}, delay, group_key, terms, payload, traceparent, tracestate,
      ref, on_parent_failure, flow_id, flow_place, spawned_by, parents, waits, ${stepNames.join(", ")}, place)
    ${withDefaults}
    WHERE ${lockTimeout}`,
  admit: `
    SELECT job.*, greatest(now(), run_at) AS starts_at, step.*
    FROM ROWS FROM (${stepInput(1)}) WITH ORDINALITY AS step(${stepNames.join(", ")}, place)
    CROSS JOIN LATERAL (
      SELECT id, tenant, ${jobNames}, group_key, ${termColumns}, payload, traceparent, tracestate
      FROM atlasqueue.jobs WHERE jobs.id = step_of OFFSET 0) AS job
    WHERE ${lockTimeout}`,
};
const isPostponed = "$22::text::boolean";

// A job that had a unique key is locked in the version that was seen, and never waited for: so no key is taken from a job that was about to start
// and now is not. Keys that no job had are taken as the jobs are inserted: the index refuses all of them when another job has
// one by then. Counts that are always true put the statement's parts in the order of their locks.
const keys = (mode: Mode) => `holders AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT seen FROM asked WHERE seen IS NOT NULL))
      AND (id, xmin::text) IN (SELECT seen, version FROM asked WHERE seen IS NOT NULL)
    FOR UPDATE SKIP LOCKED
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at, is_alias)
    SELECT tenant, key, decode(hash, 'hex'), names, now() + make_interval(secs => ttl), CASE WHEN NOT makes THEN true END
    FROM asked WHERE key IS NOT NULL AND (SELECT count(*) FROM holders) >= 0 ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING job_id
  ), makes AS NOT MATERIALIZED (
    SELECT * FROM asked WHERE makes AND (seen IS NULL OR seen IN (SELECT id FROM holders))
  ), ${mode === "admit" ? seatMembers(members) : joinGroups(`${members} AND NOT waits`, isPostponed)}`;
const members = `SELECT id, tenant, queue, group_key, place FROM makes
    WHERE group_key IS NOT NULL AND (SELECT count(*) FROM new_keys) >= 0`;

const uniqueUntil = "now() + make_interval(secs => window_seconds)";
/** The jobs whose unique keys new ones take, and a condition that is true once they have given them. */
const giving = "SELECT seen FROM makes WHERE seen IS NOT NULL";
const keysAreFree = "(SELECT count(*) FROM earlier_jobs) >= 0 AND (SELECT count(*) FROM new_keys) >= 0";
const keptUntil = "CASE WHEN key IS NOT NULL THEN now() + make_interval(secs => ttl) END";

const made = {
  insert: `${storeFlows(giving)}, made AS (
    INSERT INTO atlasqueue.jobs (${askedColumns}, kept_until, ${stateColumns}, unique_key, unique_until, ${flowColumns[0]})
    SELECT ${askedValues}, ${keptUntil},${stateValues("waits OR may_run IS FALSE")},
           unique_key, ${uniqueUntil}, ${flowColumns[1]}
    FROM makes LEFT JOIN seated USING (id) WHERE ${keysAreFree} ORDER BY tenant COLLATE "C", queue COLLATE "C", unique_key COLLATE "C", place
    RETURNING id, tenant, queue, run_at, status
  )`,
  admit: `earlier_jobs AS (
    UPDATE atlasqueue.jobs SET unique_key = NULL, unique_until = NULL WHERE id = ANY(ARRAY(${giving})) RETURNING id
  ), seats AS MATERIALIZED (
    SELECT id, ${keptUntil} AS kept, unique_key, ${uniqueUntil} AS unique_until,${stateValues("may_run IS FALSE")}
    FROM makes LEFT JOIN seats_taken USING (id)
  ), made AS (
    UPDATE atlasqueue.jobs SET status = seats.status, ready_at = seats.ready_at, due_at = seats.due_at, group_seq = seats.group_seq,
                    active_group_key = seats.active_group_key, kept_until = coalesce(seats.kept, kept_until),
                    unique_key = coalesce(seats.unique_key, jobs.unique_key),
                    unique_until = coalesce(seats.unique_until, jobs.unique_until), updated_at = now()
    FROM seats WHERE ${keysAreFree} AND jobs.id = seats.id AND jobs.id = ANY(ARRAY(SELECT id FROM seats))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.run_at, jobs.status
  ), ended AS (
    UPDATE atlasqueue.jobs SET status = 'cancelled', group_seq = NULL, expires_at = NULL, finished_at = now(), updated_at = now(), last_error = asked.reason
    FROM asked WHERE reason IS NOT NULL AND jobs.id = asked.id AND jobs.id = ANY(ARRAY(SELECT id FROM asked WHERE reason IS NOT NULL))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.has_children
  ), ${noteParents("ended")}`,
};

const moved = {
  insert: "SELECT tenant, queue, NULL AS from_status, status AS to_status FROM made",
  admit: `
    SELECT tenant, queue, 'blocked' AS from_status, status AS to_status FROM made
    UNION ALL SELECT tenant, queue, 'blocked', 'cancelled' FROM ended`,
};

const isTaken = `(SELECT count(key) FROM asked) <> (SELECT count(*) FROM new_keys)
           OR (SELECT count(DISTINCT seen) FROM asked) <> (SELECT count(*) FROM holders)`;

const build = (mode: Mode) => `
  WITH ${mode === "insert" ? `${queueDefaults}, ` : ""}asked AS MATERIALIZED (${asked[mode]}
  ), ${keys(mode)}, ${made[mode]}, ${replaced}, moved AS (
    ${moved[mode]}
    UNION ALL SELECT tenant, queue, was, status FROM replaced
  ), ${countMixedMoves("moved")}
  SELECT now() AS created_at,${mode === "insert" ? ` ${foundDefaults},` : ""} (SELECT json_agg(json_build_object('id', id, 'status', status, 'run_at', run_at)) FROM made) AS made,
         (SELECT json_agg(json_build_object('id', id, 'was', was, 'status', status, 'run_at', run_at, 'ready_at', ready_at,
                                            'due_at', due_at, 'updated_at', updated_at)) FROM replaced) AS replaced,
         ${refuseIf(`${isTaken}${mode === "insert" ? ` OR ${parentsLocked}` : ""}`)}`;

const texts = {
  insert: composed(
    "submit/insert-related",
    [...inputParameters, ...flowParameters, "postponed", ...stepNames],
    build("insert"),
  ),
  admit: composed("submit/admit", stepNames, build("admit")),
};
