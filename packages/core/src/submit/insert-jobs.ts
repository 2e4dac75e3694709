import { composed } from "../database/composed.ts";
import type { SubmitJob, TraceContext } from "@atlasqueue/contract";
import { jsonArray, numberArray, textArray, uuidArray } from "../database/literals.ts";
import type { Execute, Statement } from "../database/statement.ts";
import { countChanges } from "../counts/changes.ts";
import type { FlowPart } from "../flows/flow.ts";
import { joinGroups } from "../groups/join.ts";
import { refuseIf } from "../database/refuse.ts";
import { impatient } from "../database/skip-locked.ts";

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
 * What only the database knows. `taken` are the drafts whose key already exists, and those behind them in their groups:
 * they got no job; `blocked` are those that wait for others of their group; `run_at` has those for later.
 */
export type Inserted = {
  created_at: Date;
  run_at: ReadonlyMap<string, Date>;
  taken: ReadonlySet<string>;
  blocked: ReadonlySet<string>;
};

export type InsertOptions = {
  idempotency_ttl_seconds: number;
  /** All of them or none: throws when a key already exists, see `isTakenMeanwhile`. */
  strict?: boolean;
  /** Waits for the locks of others only for a moment: then it throws (`isLocked`), and nothing is stored. */
  impatient?: boolean;
};

/**
 * Store jobs and their keys in one statement, and so in one transaction. The answer is one row, as most jobs are ready
 * at once and there is nothing to say about them.
 */
export async function insertJobs(
  execute: Execute,
  drafts: readonly Draft[],
  { idempotency_ttl_seconds, strict = false, impatient: hasty = false }: InsertOptions,
): Promise<Inserted> {
  const grouped = drafts.some((one) => one.request.group !== undefined);
  const kind = {
    keyed: drafts.some((one) => one.key !== null),
    grouped,
    strict,
    // Without a group there is nothing that anyone but us would lock.
    hasty: grouped && hasty,
  };
  const [row] = await execute<Row>({
    text: textOf(kind),
    params: [...inputParams(drafts), ...(kind.keyed ? keyParams(drafts, idempotency_ttl_seconds) : [])],
  });
  if (!row) throw new Error("the insert gave no row");
  return {
    created_at: new Date(row.created_at),
    run_at: new Map((row.later ?? []).map(({ id, run_at }) => [id, new Date(run_at)])),
    taken: new Set(row.taken ?? []),
    blocked: new Set(row.blocked ?? []),
  };
}

type Row = {
  created_at: Date | string;
  later: { id: string; run_at: string }[] | null;
  taken: string[] | null;
  blocked: string[] | null;
};

/**
 * $1 … $14, and the keys if there are any: a column each. A time in the past means now: a job must not get ahead of
 * those that came before it.
 */
export const input = ({ keyed }: Pick<Kind, "keyed">) => `(
  SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
  FROM ROWS FROM (
    unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
           $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
    json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[])${keyed ? ", unnest($15::text[])" : ""}
  ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, group_key, backoff, payload, traceparent, tracestate${keyed ? ", key" : ""})
) AS input`;

/** What `inputParams` returns, by name. */
export const inputParameters =
  "ids tenants queues types priorities max_attempts timeout_seconds run_at delay_seconds groups backoffs payloads traceparents tracestates".split(
    " ",
  );

export function inputParams(drafts: readonly Draft[]): Statement["params"] {
  const of = <T>(read: (request: SubmitJob) => T) => drafts.map((one) => read(one.request));
  return [
    uuidArray(drafts.map((one) => one.id)),
    textArray(drafts.map((one) => one.tenant)),
    textArray(of((job) => job.queue)),
    textArray(of((job) => job.type)),
    numberArray(of((job) => job.priority)),
    numberArray(of((job) => job.max_attempts)),
    numberArray(of((job) => job.timeout_seconds)),
    textArray(of((job) => job.run_at)),
    numberArray(of((job) => job.delay_seconds)),
    textArray(of((job) => job.group)),
    jsonArray(of((job) => (job.backoff ? JSON.stringify(job.backoff) : null))),
    jsonArray(drafts.map((one) => one.payload)),
    textArray(drafts.map((one) => one.trace?.traceparent)),
    textArray(drafts.map((one) => one.trace?.tracestate)),
  ];
}

function keyParams(drafts: readonly Draft[], key_ttl_seconds: number): Statement["params"] {
  return [textArray(drafts.map((one) => one.key)), textArray(drafts.map((one) => one.hash)), key_ttl_seconds];
}

type Kind = { keyed: boolean; grouped: boolean; strict: boolean; hasty: boolean };

/** Jobs without groups, usually all of them, pay nothing for those with one. */
const plainColumns = `
    CASE WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END,
    CASE WHEN starts_at > now() THEN NULL ELSE starts_at END, CASE WHEN starts_at > now() THEN starts_at END`;
export const groupedColumns = `
    CASE WHEN NOT may_run THEN 'blocked' WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END AS status,
    CASE WHEN may_run IS FALSE OR starts_at > now() THEN NULL ELSE starts_at END AS ready_at,
    CASE WHEN may_run IS NOT FALSE AND starts_at > now() THEN starts_at END AS due_at,
    group_key, CASE WHEN NOT may_run THEN seq END AS group_seq, CASE WHEN may_run AND is_strict THEN group_key END AS active_group_key`;

const insertInto = ({ keyed, grouped }: Kind) => `
  made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, status, ready_at, due_at ${grouped ? ", group_key, group_seq, active_group_key" : ""} ${keyed ? ", kept_until" : ""})
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds,
           CASE WHEN json_typeof(backoff) = 'null' THEN NULL ELSE backoff END, starts_at, now(), now(), payload, traceparent, tracestate,
           ${grouped ? groupedColumns : plainColumns} ${keyed ? `, CASE WHEN key IS NOT NULL THEN ${expiry} END` : ""}
    FROM ${input({ keyed })} ${grouped ? "LEFT JOIN seated USING (id)" : ""}
    ${keyed ? "WHERE id NOT IN (SELECT id FROM taken)" : ""}
    RETURNING id, tenant, queue, run_at, ready_at, due_at ${grouped ? ", group_seq" : ""}
  )`;

const counted = ({ grouped }: Kind) =>
  countChanges("made", {
    queued: "count(ready_at)",
    scheduled: "count(due_at)",
    ...(grouped && { blocked: "count(group_seq)" }),
  });

const expiry = "now() + make_interval(secs => $17::float8)";

/**
 * The keys go in first, in the same order in all processes (or two statements could deadlock); only those whose key was
 * new get a job. A conflict waits for the other statement to end, so that a SELECT afterwards sees its row: that SELECT
 * must stay a separate statement, as this one's snapshot is older than the row.
 */
const takeKeys = ({ grouped }: Kind) => `
  keyed AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $15::text[], $16::text[]) AS keyed(id, tenant, key, hash)
    WHERE key IS NOT NULL
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at)
    SELECT tenant, key, decode(hash, 'hex'), id, ${expiry} FROM keyed ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING
    RETURNING job_id
  ), ${grouped ? "known" : "taken"} AS MATERIALIZED (
    SELECT id FROM keyed WHERE id NOT IN (SELECT job_id FROM new_keys)
  ),${grouped ? withFollowers : ""}`;

/** One whose key is only spent is stored at the next look, and those of its group that come after it must not be before it. */
const withFollowers = `
  asked AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $10::text[]) WITH ORDINALITY AS asked(id, tenant, queue, group_key, place)
    WHERE group_key IS NOT NULL
  ), from_place AS MATERIALIZED (
    SELECT tenant, queue, group_key, min(place) AS first FROM asked WHERE id IN (SELECT id FROM known) GROUP BY tenant, queue, group_key
  ), taken AS MATERIALIZED (
    SELECT id FROM known
    UNION SELECT id FROM asked JOIN from_place USING (tenant, queue, group_key) WHERE place > first
  ),`;

/** After the keys, whose locks come first everywhere: only jobs that will be stored get a place. */
const takePlaces = ({ keyed, hasty }: Kind) =>
  `${joinGroups(`
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $10::text[]) WITH ORDINALITY
      AS member(id, tenant, queue, group_key, place)
    WHERE group_key IS NOT NULL${hasty ? ` AND ${impatient}` : ""}
      ${keyed ? "AND id NOT IN (SELECT id FROM taken)" : ""}`)},`;

const build = (kind: Kind) => `
  WITH ${kind.keyed ? takeKeys(kind) : ""} ${kind.grouped ? takePlaces(kind) : ""} ${insertInto(kind)}, ${counted(kind)}
  SELECT now() AS created_at, ${kind.keyed ? "(SELECT json_agg(id) FROM taken)" : "NULL"} AS taken,
         (SELECT json_agg(json_build_object('id', id, 'run_at', run_at)) FROM made WHERE run_at > now()) AS later,
         ${kind.grouped ? "(SELECT json_agg(id) FROM made WHERE group_seq IS NOT NULL)" : "NULL"} AS blocked
         ${kind.keyed && kind.strict ? `, ${refuseIf("EXISTS (SELECT FROM taken)")}` : ""}`;

const nameOf = ({ keyed, grouped, strict, hasty }: Kind) =>
  `submit/insert${keyed ? "-keyed" : ""}${grouped ? "-grouped" : ""}${keyed && strict ? "-strict" : ""}${hasty ? "-hastily" : ""}`;

const both = [false, true];
const kinds = both.flatMap((keyed) =>
  both.flatMap((grouped) => (keyed ? both : [false]).map((strict): Kind => ({ keyed, grouped, strict, hasty: false }))),
);
for (const keyed of both)
  for (const strict of keyed ? both : [false]) kinds.push({ keyed, grouped: true, strict, hasty: true });
const keyParameters = ["keys", "request_hashes", "key_ttl_seconds"];
const texts = new Map(
  kinds.map((kind) => {
    const name = nameOf(kind);
    return [name, composed(name, [...inputParameters, ...(kind.keyed ? keyParameters : [])], build(kind))];
  }),
);

function textOf(kind: Kind): string {
  const text = texts.get(nameOf(kind));
  if (text === undefined) throw new Error(`no statement ${nameOf(kind)}`);
  return text;
}
