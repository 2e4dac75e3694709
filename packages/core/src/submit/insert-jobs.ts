import { composed } from "../database/composed.ts";
import type { JobDefaults, SubmitJob, TraceContext } from "@atlasqueue/contract";
import { hidden, jsonArray, numberArray, textArray, uuidArray } from "../database/literals.ts";
import type { Execute, Statement } from "../database/statement.ts";
import { countChanges } from "../counts/changes.ts";
import type { FlowPart } from "../flows/flow.ts";
import { joinGroups } from "../groups/join.ts";
import { refuseIf, lockTimeout } from "../database/clauses.ts";

/** A job about to be stored. `payload` is its JSON text; `hash` covers the whole request, in hex. */
export type Draft = {
  id: string;
  tenant: string;
  request: SubmitJob;
  payload: string;
  key: string | null;
  hash: string;
  trace?: TraceContext | undefined;
  flow?: FlowPart | undefined;
};

/**
 * What only the database knows. `taken` are the drafts whose key already exists: they got no job; `run_at` has those for
 * later, and `blocked` those that wait in their groups.
 */
export type Inserted = {
  created_at: Date;
  run_at: ReadonlyMap<string, Date>;
  taken: ReadonlySet<string>;
  blocked: ReadonlySet<string>;
  defaults: FoundDefaults;
};

export type InsertOptions = {
  idempotency_ttl_seconds: number;
  /** All of them or none: throws when a key already exists, see `isTakenMeanwhile`. */
  strict?: boolean;
  /** The jobs of groups get their places after the commit, as another transaction has a group locked. */
  postponed?: boolean;
  /** Called when they were: they are to be admitted as soon as the group is free. */
  onPostponed?: (() => void) | undefined;
};

/**
 * Store jobs that ask for no more than their keys and places in groups, in one statement, and so in one transaction. The
 * answer is one row, as most jobs are ready at once and there is nothing to say about them. With groups it is `strict`: those
 * behind a job whose key exists must not overtake it. Throws when another transaction keeps a key or a group locked
 * (`isLocked`): then nothing was stored. Others are stored by `applySubmissions`; jobs of groups would cost it twice as much.
 */
export async function insertJobs(
  execute: Execute,
  drafts: readonly Draft[],
  { idempotency_ttl_seconds, strict = false, postponed = false }: InsertOptions,
): Promise<Inserted> {
  const keys = textArray(given(drafts.map((one) => one.key)));
  const hashes = textArray(drafts.map((one) => one.hash));
  const grouped = drafts.some(isGrouped);
  const params = [...inputParams(drafts), keys, hashes, idempotency_ttl_seconds, String(strict || grouped)];
  const [row] = await execute<Row>(
    grouped ? { text: texts.grouped, params: [...params, String(postponed)] } : { text: texts.plain, params },
  );
  if (!row) throw new Error("the insert gave no row");
  return {
    created_at: new Date(row.created_at),
    run_at: new Map((row.later ?? []).map(({ id, run_at }) => [id, new Date(run_at)])),
    taken: new Set(row.taken ?? []),
    blocked: new Set(row.blocked ?? []),
    defaults: row.defaults ?? [],
  };
}

export const isGrouped = ({ request }: Draft): boolean => request.group !== undefined;

type Row = {
  created_at: Date | string;
  later: { id: string; run_at: string }[] | null;
  taken: string[] | null;
  blocked?: string[] | null;
  defaults: FoundDefaults | null;
};

/** A column of an `input` row that all jobs must have: an array of one value stands for that value in every row. */
export const each = (name: string, array: string) => `${value(name, array)} AS ${name}`;
const value = (name: string, array: string) => `coalesce(${name}, (${array})[1])`;

/**
 * A part of a WITH: the defaults of the queues of the statement's jobs; most have none. The statement that stores the jobs
 * reads them, so they hold for all that is submitted after they were set. Seeing the lengths of the arrays, PostgreSQL would
 * plan each execution anew, which costs one job half as much again.
 */
export const queueDefaults = `queue_defaults AS MATERIALIZED (
    SELECT tenant AS of_tenant, queue AS of_queue, defaults FROM atlasqueue.queues
    WHERE defaults IS NOT NULL AND tenant = ANY(${hidden("$2::text[]")}) AND queue = ANY(${hidden("$3::text[]")})
  )`;

/** A join to the rows of `input`. */
export const withDefaults = `LEFT JOIN queue_defaults ON of_tenant = ${value("tenant", "$2::text[]")} AND of_queue = ${value("queue", "$3::text[]")}`;

/** What a row of `input` asks for, or else its queue's default, or else the system's. */
export const termValues = `
         coalesce(max_attempts, (defaults ->> 'max_attempts')::smallint, 5) AS max_attempts,
         coalesce(timeout_seconds, (defaults ->> 'timeout_seconds')::integer) AS timeout_seconds,
         coalesce(terms -> 'backoff', defaults -> 'backoff') AS backoff,
         coalesce(terms ->> 'retention_seconds', defaults ->> 'retention_seconds')::integer AS retention_seconds,
         coalesce(terms ->> 'result_ttl_seconds', defaults ->> 'result_ttl_seconds')::integer AS result_ttl_seconds,
         (terms ->> 'tags')::text[] AS tags, now() + make_interval(secs => (terms ->> 'expires_in')::float8) AS expires_at`;
/** The columns of these that `terms` has. */
export const termColumns = "backoff, retention_seconds, result_ttl_seconds, tags, expires_at";

/** A column of the answer: the defaults that were applied. */
export const foundDefaults = "(SELECT json_agg(queue_defaults) FROM queue_defaults) AS defaults";
export type FoundDefaults = readonly { of_tenant: string; of_queue: string; defaults: JobDefaults }[];

/**
 * $1 … $14, and the keys if they are wanted: a column each. Arrays may be shorter than that of the ids, see `inputParams`. A
 * time in the past means now: a job must not get ahead of those that came before it.
 */
export const input = ({ keyed }: { keyed: boolean }) => `(
  SELECT id, ${each("tenant", "$2::text[]")}, ${each("queue", "$3::text[]")}, ${each("type", "$4::text[]")}, ${each("priority", "$5::smallint[]")},
         ${termValues}, group_key, payload, traceparent, tracestate,${keyed ? " key," : ""}
         greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
  FROM ROWS FROM (
    unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
           $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
    json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[])${keyed ? ", unnest($15::text[])" : ""}
  ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, group_key, terms, payload, traceparent, tracestate${keyed ? ", key" : ""})
  ${withDefaults}
) AS input`;

/** What few jobs ask for, in one parameter. */
function termsText({ backoff, retention_seconds, result_ttl_seconds, expires_in, tags }: SubmitJob): string | null {
  if (!backoff && !retention_seconds && !result_ttl_seconds && !expires_in && !tags) return null;
  return JSON.stringify({ backoff, retention_seconds, result_ttl_seconds, expires_in, tags: tags && textArray(tags) });
}

/** A column that no job has is left out, and one that is the same for all is said once: most jobs ask for nothing special. */
const given = <T>(values: readonly T[]) => (values.some((one) => one !== null && one !== undefined) ? values : []);
const once = <T>(values: readonly T[]) => (values.every((one) => one === values[0]) ? values.slice(0, 1) : values);

/** What `inputParams` returns, by name. */
export const inputParameters =
  "ids tenants queues types priorities max_attempts timeout_seconds run_at delay_seconds groups terms payloads traceparents tracestates".split(
    " ",
  );

export function inputParams(drafts: readonly Draft[]): Statement["params"] {
  const of = <T>(read: (request: SubmitJob) => T) => drafts.map((one) => read(one.request));
  return [
    uuidArray(drafts.map((one) => one.id)),
    textArray(once(drafts.map((one) => one.tenant))),
    textArray(once(of((job) => job.queue))),
    textArray(once(of((job) => job.type))),
    numberArray(once(of((job) => job.priority))),
    numberArray(given(of((job) => job.max_attempts))),
    numberArray(given(of((job) => job.timeout_seconds))),
    textArray(given(of((job) => job.run_at))),
    numberArray(given(of((job) => job.delay_seconds))),
    textArray(given(of((job) => job.group))),
    jsonArray(given(of(termsText))),
    jsonArray(drafts.map((one) => one.payload)),
    textArray(given(drafts.map((one) => one.trace?.traceparent))),
    textArray(given(drafts.map((one) => one.trace?.tracestate))),
  ];
}

const isLater = "starts_at > now()";
const expiry = "now() + make_interval(secs => $17::float8)";

/** Columns of a new job that are what was asked for, and their values, for a row of `input`. */
export const askedColumns = `id, tenant, queue, type, priority, max_attempts, timeout_seconds, ${termColumns}, run_at, created_at, updated_at,
                      payload, traceparent, tracestate`;
export const askedValues = `id, tenant, queue, type, priority, max_attempts, timeout_seconds, ${termColumns},
           starts_at, now(), now(), payload, traceparent, tracestate`;

/**
 * Columns of a new job that say whether it can start, and their values: `waits` (a condition) when it is blocked, and then
 * `seq` is its place in its group, if it has one already.
 */
export const stateColumns = "status, ready_at, due_at, group_key, group_seq, active_group_key";
export const stateValues = (waits: string) => `
           CASE WHEN ${waits} THEN 'blocked' WHEN ${isLater} THEN 'scheduled' ELSE 'queued' END AS status,
           CASE WHEN ${waits} OR ${isLater} THEN NULL ELSE starts_at END AS ready_at,
           CASE WHEN NOT (${waits}) AND ${isLater} THEN starts_at END AS due_at, group_key,
           CASE WHEN ${waits} THEN coalesce(seq, 0) END AS group_seq, CASE WHEN may_run AND is_strict THEN group_key END AS active_group_key`;

// The keys go in first, in the same order in all processes (or two statements could deadlock); only those whose key was
// new get a job. A conflict waits for the other statement to end, so that a SELECT afterwards sees its row: that SELECT
// must stay a separate statement, as this one's snapshot is older than the row.
const build = (grouped: boolean) => `
  WITH ${queueDefaults}, keyed AS MATERIALIZED (
    SELECT id, ${each("tenant", "$2::text[]")}, key, hash
    FROM unnest($1::uuid[], $2::text[], $15::text[], $16::text[]) AS keyed(id, tenant, key, hash)
    WHERE key IS NOT NULL AND ${lockTimeout}
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at)
    SELECT tenant, key, decode(hash, 'hex'), id, ${expiry} FROM keyed ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING
    RETURNING job_id
  ), taken AS MATERIALIZED (
    SELECT id FROM keyed WHERE id NOT IN (SELECT job_id FROM new_keys)
  ), ${grouped ? `${joinGroups(members, "$19::text::boolean")}, ` : ""}made AS (
    INSERT INTO atlasqueue.jobs (${askedColumns}, kept_until, ${grouped ? stateColumns : "status, ready_at, due_at"})
    SELECT ${askedValues}, CASE WHEN key IS NOT NULL THEN ${expiry} END,${grouped ? stateValues("may_run IS FALSE") : plainState}
    FROM ${input({ keyed: true })}${grouped ? " LEFT JOIN seated USING (id)" : ""} WHERE id NOT IN (SELECT id FROM taken)
    RETURNING id, tenant, queue, run_at, ready_at, due_at
  ), ${countChanges("made", { queued: "count(ready_at)", scheduled: "count(due_at)", ...(grouped && { blocked: "count(*) - count(ready_at) - count(due_at)" }) })}
  SELECT now() AS created_at, (SELECT json_agg(id) FROM taken) AS taken, ${foundDefaults},
         (SELECT json_agg(json_build_object('id', id, 'run_at', run_at)) FROM made WHERE run_at > now()) AS later,${
           grouped
             ? `
         (SELECT json_agg(id) FROM made WHERE ready_at IS NULL AND due_at IS NULL) AS blocked,`
             : ""
         }
         ${refuseIf("$18::text::boolean AND EXISTS (SELECT FROM taken)")}`;
const members = `
    SELECT id, ${each("tenant", "$2::text[]")}, ${each("queue", "$3::text[]")}, group_key, place
    FROM unnest($1::uuid[], $2::text[], $3::text[], $10::text[]) WITH ORDINALITY AS member(id, tenant, queue, group_key, place)
    WHERE group_key IS NOT NULL AND (SELECT count(*) FROM taken) >= 0`;
const plainState = `
           CASE WHEN ${isLater} THEN 'scheduled' ELSE 'queued' END, CASE WHEN ${isLater} THEN NULL ELSE starts_at END,
           CASE WHEN ${isLater} THEN starts_at END`;

const parameters = [...inputParameters, "keys", "request_hashes", "key_ttl_seconds", "strict"];
const texts = {
  plain: composed("submit/insert", parameters, build(false)),
  grouped: composed("submit/insert-grouped", [...parameters, "postponed"], build(true)),
};
