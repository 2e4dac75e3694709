import type { SubmitJob } from "@atlasqueue/contract";
import { jsonArray, numberArray, textArray, uuidArray } from "../database/literals.ts";
import type { Execute, Statement } from "../database/statement.ts";
import { countChanges } from "./count-changes.ts";

/** A job about to be stored. `payload` is its JSON text; `hash` is of the whole request, in hex. */
export type Draft = {
  id: string;
  tenant: string;
  request: SubmitJob;
  payload: string;
  key: string | null;
  hash: string;
};

/** What only the database knows. `taken` are the drafts whose key exists already: they got no job. */
export type Inserted = { created_at: Date; run_at: ReadonlyMap<string, Date>; taken: ReadonlySet<string> };

export type InsertOptions = {
  idempotency_ttl_seconds: number;
  /** In a caller's own transaction: a lock_timeout set there would hold for the caller's other statements as well. */
  waits_for_held_keys?: boolean;
};

/**
 * Store jobs and their keys in one statement, and so in one transaction. The answer is one row, as most jobs run at
 * once and there is nothing to tell of them.
 */
export async function insertJobs(
  execute: Execute,
  drafts: readonly Draft[],
  { idempotency_ttl_seconds, waits_for_held_keys }: InsertOptions,
): Promise<Inserted> {
  const keyed = drafts.some((one) => one.key !== null);
  const [row] = await execute<Row>(
    keyed ? withKeys(drafts, idempotency_ttl_seconds, waits_for_held_keys ?? false) : withoutKeys(drafts),
  );
  if (!row) throw new Error("the insert gave no row");
  return {
    created_at: new Date(row.created_at),
    run_at: new Map((row.later ?? []).map(({ id, run_at }) => [id, new Date(run_at)])),
    taken: new Set(row.taken ?? []),
  };
}

type Row = { created_at: Date | string; later: { id: string; run_at: string }[] | null; taken: string[] | null };

/** $1 … $11: a column each. A time in the past means now: a job must not get ahead of those that came before it. */
const input = `(
  SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
  FROM ROWS FROM (
    unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
           $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[]),
    json_array_elements($10::text::json), json_array_elements($11::text::json)
  ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, backoff, payload)
) AS input`;

function inputParams(drafts: readonly Draft[]): Statement["params"] {
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
    jsonArray(of((job) => (job.backoff ? JSON.stringify(job.backoff) : null))),
    jsonArray(drafts.map((one) => one.payload)),
  ];
}

const insertInto = `
  INSERT INTO jobs (id, tenant, queue, type, status, priority, max_attempts, timeout_seconds, backoff,
                    run_at, ready_at, due_at, created_at, updated_at, payload)
  SELECT id, tenant, queue, type, CASE WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END, priority, max_attempts,
         timeout_seconds, CASE WHEN json_typeof(backoff) = 'null' THEN NULL ELSE backoff END,
         starts_at, CASE WHEN starts_at > now() THEN NULL ELSE starts_at END,
         CASE WHEN starts_at > now() THEN starts_at END, now(), now(), payload`;

const later = `
  (SELECT json_agg(json_build_object('id', id, 'run_at', due_at)) FROM made WHERE due_at IS NOT NULL) AS later`;

const counted = countChanges("made", {
  queued: "count(*) FILTER (WHERE due_at IS NULL)",
  scheduled: "count(*) FILTER (WHERE due_at IS NOT NULL)",
});

const plainText = `
  WITH made AS (${insertInto} FROM ${input} RETURNING id, tenant, queue, due_at), ${counted}
  SELECT now() AS created_at, ${later}, NULL AS taken`;

/**
 * The keys go in first, in one order over all processes (else two statements could deadlock); only those whose key
 * was new get a job. A conflict waits for the other transaction to end, so that a SELECT afterwards sees its row:
 * that SELECT must stay a statement of its own, as this one's snapshot is older than the row. A key that a transaction
 * holds for longer is an error (55P03), and not the wait of everybody in the statement.
 */
const keyedText = (guard: string) => `
  WITH keyed AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $12::text[], $13::text[]) AS keyed(id, tenant, key, hash)
    WHERE key IS NOT NULL ${guard}
  ), new_keys AS (
    INSERT INTO idempotency_keys (tenant, key, request_hash, job_id, expires_at)
    SELECT tenant, key, decode(hash, 'hex'), id, now() + make_interval(secs => $14::float8) FROM keyed ORDER BY tenant, key
    ON CONFLICT DO NOTHING
    RETURNING job_id
  ), taken AS MATERIALIZED (
    SELECT id FROM keyed WHERE id NOT IN (SELECT job_id FROM new_keys)
  ), made AS (
    ${insertInto} FROM ${input} WHERE id NOT IN (SELECT id FROM taken) RETURNING id, tenant, queue, due_at
  ), ${counted}
  SELECT now() AS created_at, ${later}, (SELECT json_agg(id) FROM taken) AS taken`;

const impatientText = keyedText("AND (SELECT set_config('lock_timeout', '300ms', true)) IS NOT NULL");
const patientText = keyedText("");

function withoutKeys(drafts: readonly Draft[]): Statement {
  return { text: plainText, params: inputParams(drafts) };
}

function withKeys(drafts: readonly Draft[], key_ttl_seconds: number, patient: boolean): Statement {
  const keys = textArray(drafts.map((one) => one.key));
  const hashes = textArray(drafts.map((one) => one.hash));
  return {
    text: patient ? patientText : impatientText,
    params: [...inputParams(drafts), keys, hashes, key_ttl_seconds],
  };
}
