import { composed } from "../database/composed.ts";
import { textArray } from "../database/literals.ts";
import type { Execute } from "../database/statement.ts";
import { unique_check_seconds } from "./unique/verdict.ts";
import { countMixedMoves } from "../counts/changes.ts";
import { groupedColumns, inputParameters, inputParams, type Draft } from "./insert-jobs.ts";
import { flowColumns, flowParameters, flowParams, hasParents, parentsLocked, storeFlows } from "../flows/store-flow.ts";
import { noteParents } from "../flows/note-parents.ts";
import { joinGroups } from "../groups/join.ts";
import { refuseIf } from "../database/refuse.ts";
import { impatient } from "../database/skip-locked.ts";
import { behind } from "./overtaking.ts";
import { takeArrived } from "./arrivals/take-arrived.ts";
import { lockTargets, replaceTargets } from "./unique/replace.ts";

/** One draft in a statement, and what should become of it. */
export type Step = {
  draft: Draft;
  /**
   * `make`: it becomes a job. `join`: another job is the answer to it, which ends an arrived one. `note`: it has
   * already ended, and only its idempotency key is remembered.
   */
  role: "make" | "join" | "note";
  /** The job that its idempotency key stands for. */
  names: string;
  key_ttl_seconds: number;
  /** For one that makes or rewrites a job: its unique key, which must still be as it was seen. */
  unique?: { key: string; seen: { job_id: string; version: string } | null; window_seconds: number | null } | undefined;
  /** The waiting job it replaces; of those with the same target, one `writes`. */
  target?: string | undefined;
  writes?: boolean | undefined;
  /** Why an arrived job ends. */
  reason?: string | undefined;
};

/** `lost` are the drafts whose keys or targets were taken meanwhile: nothing was done about them. Look again. */
export type CarriedOut = {
  created_at: Date;
  lost: ReadonlySet<string>;
  made: ReadonlyMap<string, MadeJob>;
  replaced: ReadonlyMap<string, ReplacedJob>;
};
type MadeJob = { id: string; status: "queued" | "scheduled" | "blocked"; run_at: Date };
type ReplacedJob = MadeJob & { was: string; ready_at: Date | null; due_at: Date | null; updated_at: Date };

/**
 * Carry out what a look at the keys decided, in one statement that checks whether what was seen still holds: so no lock
 * outlives it, and a process that stops between look and statement holds nothing. `insert` stores new jobs; `flow` those
 * that wait for one another as well; `admit` is for arrived jobs, and does nothing for those another process is
 * admitting. With `strict` it is all or nothing: it throws when something was lost (see `isTakenMeanwhile`). A flow is
 * always that, and admitting never. When it is `impatient`, it throws when it would have to wait for another's lock (see
 * `isLocked`).
 *
 * The lock order is the same in all statements that take jobs in: jobs to be replaced, which no one waits for; then
 * unique keys, idempotency keys and groups, each sorted.
 */
export async function carryOut(
  execute: Execute,
  steps: readonly Step[],
  mode: Mode,
  { strict = false, impatient: hasty = false }: { strict?: boolean | undefined; impatient?: boolean | undefined } = {},
): Promise<CarriedOut> {
  const text = (hasty ? hastily : patiently)[mode][strict ? "strict" : "lenient"];
  const [row] = await execute<Row>({ text, params: paramsOf(steps, mode) });
  if (!row) throw new Error("the statement gave no row");
  const times = <T extends { run_at: string }>(one: T) => ({ ...one, run_at: new Date(one.run_at) });
  const date = (time: string | null) => (time === null ? null : new Date(time));
  return {
    created_at: new Date(row.created_at),
    lost: new Set(row.lost ?? []),
    made: new Map((row.made ?? []).map((one) => [one.id, times(one)])),
    replaced: new Map(
      (row.replaced ?? []).map((one) => [
        one.id,
        { ...times(one), ready_at: date(one.ready_at), due_at: date(one.due_at), updated_at: new Date(one.updated_at) },
      ]),
    ),
  };
}

type Mode = "insert" | "flow" | "admit";
type InText<T> = { [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] };
type Row = {
  created_at: Date | string;
  lost: string[] | null;
  made: InText<MadeJob>[] | null;
  replaced: InText<ReplacedJob>[] | null;
};

function paramsOf(steps: readonly Step[], mode: Mode) {
  const drafts = steps.map(({ draft }) => draft);
  const of = (read: (step: Step) => string | number | boolean | null | undefined) =>
    textArray(steps.map((one) => read(one)?.toString()));
  return [
    ...inputParams(drafts),
    of(({ draft }) => draft.key),
    of(({ draft }) => draft.hash),
    of((one) => one.key_ttl_seconds),
    of((one) => one.role),
    of((one) => one.names),
    of(({ unique }) => unique?.key),
    of(({ unique }) => unique?.seen?.job_id),
    of(({ unique }) => unique?.seen?.version),
    of(({ unique }) => unique?.window_seconds),
    of((one) => one.target),
    of((one) => one.writes ?? false),
    of((one) => one.reason),
    ...(mode === "flow" ? flowParams(drafts) : []),
  ];
}

const ofFlow = (mode: Mode, text: string) => (mode === "flow" ? text : "");
const flowInput =
  "unnest($27::text[], $28::text[], $29::uuid[], $30::integer[], $31::uuid[]), json_array_elements($32::text::json)";

const asked = (mode: Mode) => `
  asked AS MATERIALIZED (
    SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
    FROM ROWS FROM (
      unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
             $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
      json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[]),
      unnest($15::text[], $16::text[], $17::float8[], $18::text[], $19::uuid[], $20::text[], $21::uuid[], $22::timestamptz[],
             $23::float8[], $24::uuid[], $25::boolean[], $26::text[])${ofFlow(mode, `, ${flowInput}`)}
    ) WITH ORDINALITY AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, group_key, backoff,
      payload, traceparent, tracestate, key, hash, ttl, role, names, unique_key, seen, seen_at, window_seconds, target, writes, reason${ofFlow(mode, ", ref, on_parent_failure, flow_id, flow_place, spawned_by, parents")}, place)
  )`;

const ours = (mode: Mode, hasty: boolean) =>
  `${asked(mode)}, ${mode === "admit" ? takeArrived(hasty) : `ours AS MATERIALIZED (SELECT * FROM asked${hasty ? ` WHERE ${impatient}` : ""})`}`;

// ON CONFLICT DO UPDATE, and not NOTHING: it waits for a statement that is taking the key, and then looks at the row as
// that one left it. `check_at` is the version of the row: replacing a key's job moves it as well, so that no one takes
// the key from a job that was about to start and now is not. Unique keys come before idempotency keys, as an
// idempotency key taken in vain names no job, and so is free.
const keys = (mode: Mode) => `
  ${lockTargets("ours")}, able AS MATERIALIZED (
    SELECT *, coalesce(target, id) AS holder FROM ours WHERE (target IS NULL OR target IN (SELECT id FROM targets))
      ${mode === "admit" ? `AND NOT ${behind("ours", "earlier.target IS NOT NULL AND earlier.target NOT IN (SELECT id FROM targets)")}` : ""}
  ), named AS (
    INSERT INTO atlasqueue.unique_keys AS known (tenant, queue, key, job_id, window_ends_at, check_at)
    SELECT tenant, queue, unique_key, holder, clock_timestamp() + make_interval(secs => window_seconds),
           clock_timestamp() + make_interval(secs => coalesce(window_seconds, ${unique_check_seconds}))
    FROM able WHERE unique_key IS NOT NULL
    ORDER BY tenant COLLATE "C", queue COLLATE "C", unique_key COLLATE "C"
    ON CONFLICT (tenant, queue, key) DO UPDATE
      SET job_id = excluded.job_id,
          check_at = CASE WHEN known.job_id = excluded.job_id THEN known.check_at + interval '1 microsecond' ELSE excluded.check_at END,
          window_ends_at = CASE WHEN known.job_id = excluded.job_id THEN known.window_ends_at ELSE excluded.window_ends_at END
      WHERE (known.job_id, known.check_at) =
            (SELECT seen, seen_at FROM able WHERE able.holder = excluded.job_id AND able.unique_key IS NOT NULL)
    RETURNING job_id
  ), own AS MATERIALIZED (
    SELECT * FROM able WHERE unique_key IS NULL AND target IS NULL OR holder IN (SELECT job_id FROM named)
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at, is_alias)
    SELECT tenant, key, decode(hash, 'hex'), names, now() + make_interval(secs => ttl), CASE WHEN role <> 'make' THEN true END
    FROM own WHERE key IS NOT NULL ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING tenant, key
  ), taken AS MATERIALIZED (
    SELECT id, target FROM own WHERE key IS NOT NULL AND (tenant, key) NOT IN (SELECT tenant, key FROM new_keys)
  ), clear AS MATERIALIZED (
    SELECT * FROM own WHERE id NOT IN (SELECT id FROM taken)
  ), makes AS MATERIALIZED (
    SELECT * FROM clear WHERE role = 'make'
      ${mode === "insert" ? `AND NOT ${behind("clear", "earlier.id NOT IN (SELECT id FROM clear)")}` : ""}
  ), ${joinGroups(`SELECT id, tenant, queue, group_key, place FROM makes WHERE group_key IS NOT NULL${ofFlow(mode, ` AND NOT ${hasParents}`)}`)}`;

const keptUntil = "CASE WHEN key IS NOT NULL THEN now() + make_interval(secs => ttl) END";

const insertInto = (seats: string, columns = "", values = "") => `
  made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, kept_until, status, ready_at, due_at, group_key, group_seq, active_group_key${columns})
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, nullif(backoff::text, 'null')::json, starts_at, now(), now(),
           payload, traceparent, tracestate, ${keptUntil}, ${groupedColumns}${values}
    FROM makes LEFT JOIN ${seats} USING (id)
    RETURNING id, tenant, queue, run_at, status
  )`;

const made = {
  insert: insertInto("seated"),
  flow: `${storeFlows}, ${insertInto("seats", ...flowColumns)}`,
  admit: `
  seats AS MATERIALIZED (
    SELECT id, ${keptUntil} AS kept, ${groupedColumns}
    FROM makes LEFT JOIN seated USING (id)
  ), made AS (
    UPDATE atlasqueue.jobs SET status = seats.status, ready_at = seats.ready_at, due_at = seats.due_at, group_seq = seats.group_seq,
                    active_group_key = seats.active_group_key, kept_until = coalesce(seats.kept, kept_until), updated_at = now()
    FROM seats WHERE jobs.id = seats.id AND jobs.id = ANY(ARRAY(SELECT id FROM seats))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.run_at, jobs.status
  ), ended AS (
    UPDATE atlasqueue.jobs SET status = 'cancelled', group_seq = NULL, finished_at = now(), updated_at = now(), last_error = clear.reason
    FROM clear WHERE clear.role = 'join' AND jobs.id = clear.id AND jobs.id = ANY(ARRAY(SELECT id FROM clear WHERE role = 'join'))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.has_children
  ), ${noteParents("ended")}, dealt_with AS (
    DELETE FROM atlasqueue.arrivals WHERE job_id = ANY(ARRAY(
      SELECT id FROM made UNION ALL SELECT id FROM ended UNION ALL SELECT id FROM clear WHERE role = 'note'))
  )`,
};

const stored = "SELECT tenant, queue, NULL AS from_status, status AS to_status FROM made";
const moved = {
  insert: stored,
  flow: stored,
  admit: `
    SELECT tenant, queue, 'blocked' AS from_status, status AS to_status FROM made
    UNION ALL SELECT tenant, queue, 'blocked', 'cancelled' FROM ended`,
};

const build = (mode: Mode, strict: boolean, hasty: boolean) => `
  WITH ${ours(mode, hasty)}, ${keys(mode)}, ${made[mode]}, contents AS MATERIALIZED (
    SELECT * FROM clear WHERE writes
  ), ${replaceTargets("contents")}, moved AS (
    ${moved[mode]}
    UNION ALL SELECT tenant, queue, was, status FROM replaced
  ), ${countMixedMoves("moved")}, settled AS MATERIALIZED (
    SELECT id FROM made UNION ALL SELECT id FROM clear WHERE role <> 'make'
  )
  SELECT now() AS created_at, (SELECT json_agg(id) FROM asked WHERE id NOT IN (SELECT id FROM settled)) AS lost,
         (SELECT json_agg(json_build_object('id', id, 'status', status, 'run_at', run_at)) FROM made) AS made,
         (SELECT json_agg(json_build_object('id', id, 'was', was, 'status', status, 'run_at', run_at, 'ready_at', ready_at,
                                            'due_at', due_at, 'updated_at', updated_at)) FROM replaced) AS replaced,
         ${refuseIf(mode === "flow" ? `${lostAny} OR ${parentsLocked}` : strict ? lostAny : mode === "admit" ? `${replacedForNothing} OR ${overtakes}` : replacedForNothing)}`;

const lostAny = "EXISTS (SELECT FROM asked WHERE id NOT IN (SELECT id FROM settled))";
const overtakes = `EXISTS (SELECT FROM makes WHERE ${behind("makes", "earlier.id NOT IN (SELECT id FROM clear)")})`;
// Another request has just taken this one's idempotency key: what it was to replace must stay as it is.
const replacedForNothing = "EXISTS (SELECT FROM taken WHERE target IS NOT NULL)";

const ofSteps =
  "keys request_hashes ttl_seconds roles named_jobs unique_keys seen_jobs seen_versions window_seconds targets writes reasons";
const parameters = [...inputParameters, ...ofSteps.split(" ")];
const textsOf = (hasty: boolean) => {
  const text = (name: string, mode: Mode, strict: boolean, more: readonly string[] = []) =>
    composed(`submit/${name}${hasty ? "-hastily" : ""}`, [...parameters, ...more], build(mode, strict, hasty));
  const admit = text("admit-unique", "admit", false);
  const flow = text("insert-flow", "flow", true, flowParameters);
  return {
    insert: {
      strict: text("insert-unique-strict", "insert", true),
      lenient: text("insert-unique", "insert", false),
    },
    admit: { strict: admit, lenient: admit },
    flow: { strict: flow, lenient: flow },
  };
};
const patiently = textsOf(false);
const hastily = textsOf(true);
