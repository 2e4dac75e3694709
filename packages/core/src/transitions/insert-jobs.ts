import type { SubmitJob } from "@atlasqueue/contract";
import { bounded } from "../database/bounded.ts";
import type { Database } from "../database/connect.ts";
import { jsonArray, numberArray, textArray, uuidArray } from "../database/literals.ts";
import type { JobRow } from "../database/schema.ts";

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

/**
 * Store jobs and their keys in one statement, and so in one transaction. The answer is one row, as most jobs run at
 * once and there is nothing to tell of them.
 */
export async function insertJobs(
  database: Database,
  drafts: readonly Draft[],
  key_ttl_seconds: number,
): Promise<Inserted> {
  const query = drafts.some((one) => one.key !== null)
    ? withKeys(database, drafts, key_ttl_seconds)
    : withoutKeys(database, drafts);
  const [row] = await bounded(database, query);
  if (!row) throw new Error("the insert gave no row");
  return {
    created_at: row.created_at,
    run_at: new Map((row.later ?? []).map(({ id, run_at }) => [id, new Date(run_at)])),
    taken: new Set(row.taken ?? []),
  };
}

type Row = { created_at: Date; later: { id: string; run_at: string }[] | null; taken: string[] | null };

/**
 * The keys go in first, in one order over all processes (else two statements could deadlock); only those whose key
 * was new get a job. A conflict waits for the other transaction to end, so that a SELECT afterwards sees its row:
 * that SELECT must stay a statement of its own, as this one's snapshot is older than the row.
 */
function withKeys(database: Database, drafts: readonly Draft[], key_ttl_seconds: number) {
  const { sql } = database;
  return sql<Row[]>`
    WITH input AS MATERIALIZED (
      SELECT * FROM ${inputOf(database, drafts)}
    ), keyed AS (
      SELECT * FROM unnest(
        ${uuidArray(drafts.map((one) => one.id))}::uuid[], ${textArray(drafts.map((one) => one.key))}::text[],
        ${textArray(drafts.map((one) => one.hash))}::text[], ${textArray(drafts.map((one) => one.tenant))}::text[]
      ) AS keyed(id, key, hash, tenant) WHERE key IS NOT NULL
    ), new_keys AS (
      INSERT INTO idempotency_keys (tenant, key, request_hash, job_id, expires_at)
      SELECT tenant, key, decode(hash, 'hex'), id, now() + make_interval(secs => ${key_ttl_seconds}::float8)
      FROM keyed ORDER BY tenant, key
      ON CONFLICT DO NOTHING
      RETURNING job_id
    ), taken AS MATERIALIZED (
      SELECT id FROM keyed WHERE id NOT IN (SELECT job_id FROM new_keys)
    ), made AS (
      ${insertFrom(database)} FROM input WHERE id NOT IN (SELECT id FROM taken)
      RETURNING id, due_at
    )
    SELECT now() AS created_at, ${laterOf(database)}, (SELECT json_agg(id) FROM taken) AS taken`;
}

function withoutKeys(database: Database, drafts: readonly Draft[]) {
  return database.sql<Row[]>`
    WITH made AS (
      ${insertFrom(database)} FROM ${inputOf(database, drafts)}
      RETURNING id, due_at
    )
    SELECT now() AS created_at, ${laterOf(database)}, NULL AS taken`;
}

function insertFrom({ sql }: Database) {
  return sql`
    INSERT INTO jobs (id, tenant, queue, type, status, priority, max_attempts, timeout_seconds, backoff,
                      run_at, ready_at, due_at, created_at, updated_at, payload)
    SELECT id, tenant, queue, type, CASE WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END, priority, max_attempts,
           timeout_seconds, CASE WHEN json_typeof(backoff) = 'null' THEN NULL ELSE backoff END,
           starts_at, CASE WHEN starts_at > now() THEN NULL ELSE starts_at END,
           CASE WHEN starts_at > now() THEN starts_at END, now(), now(), payload`;
}

/** A time in the past means now: a job must not get ahead of those that waited before it came. */
function inputOf({ sql }: Database, drafts: readonly Draft[]) {
  const of = <T>(read: (request: SubmitJob) => T) => drafts.map((one) => read(one.request));
  return sql`(
    SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
    FROM ROWS FROM (
      unnest(${uuidArray(drafts.map((one) => one.id))}::uuid[], ${textArray(drafts.map((one) => one.tenant))}::text[],
             ${textArray(of((job) => job.queue))}::text[], ${textArray(of((job) => job.type))}::text[],
             ${numberArray(of((job) => job.priority))}::smallint[], ${numberArray(of((job) => job.max_attempts))}::smallint[],
             ${numberArray(of((job) => job.timeout_seconds))}::integer[], ${textArray(of((job) => job.run_at))}::timestamptz[],
             ${numberArray(of((job) => job.delay_seconds))}::float8[]),
      json_array_elements(${jsonArray(of((job) => (job.backoff ? JSON.stringify(job.backoff) : null)))}::text::json),
      json_array_elements(${jsonArray(drafts.map((one) => one.payload))}::text::json)
    ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, backoff, payload)
  ) AS input`;
}

function laterOf({ sql }: Database) {
  return sql`(SELECT json_agg(json_build_object('id', id, 'run_at', due_at)) FROM made WHERE due_at IS NOT NULL) AS later`;
}
