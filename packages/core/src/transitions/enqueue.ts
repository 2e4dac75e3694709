import { createHash } from "node:crypto";
import { canonicalJson, type SubmitJob } from "@atlasqueue/contract";
import { v7 as uuidv7 } from "uuid";
import { bounded } from "../database/bounded.ts";
import type { JobRow } from "../database/schema.ts";
import type { Deps } from "../deps.ts";
import { findByIdempotencyKeys, type KeyedJob } from "../queries/find-by-idempotency-keys.ts";

/** A validated request to create a job. Without a key, every call creates another job. */
export type Submission = { tenant: string; request: SubmitJob; idempotency_key?: string | undefined };

export type EnqueueOutcome =
  | { kind: "created"; job: JobRow }
  /** The key was used for the same request before: this is the job it made. */
  | { kind: "replayed"; job: JobRow }
  | { kind: "mismatch" };

export type EnqueueOptions = { idempotency_ttl_seconds: number };

/** A key can expire or be pruned between our INSERT and our SELECT; then the INSERT is tried again. */
const rounds_max = 3;

/**
 * (nothing) → queued | scheduled. The job and its key are committed together; when this returns `created`, they are
 * durable. Outcomes stand in the order of the submissions. Throws when the database is away: the outcome is then
 * unknown, and the same keys may be sent again.
 *
 * @example
 * const [outcome] = await enqueue(deps, [{ tenant: "default", request, idempotency_key: "order-17" }], options);
 */
export async function enqueue(
  deps: Deps,
  submissions: Submission[],
  options: EnqueueOptions,
): Promise<EnqueueOutcome[]> {
  const drafts = submissions.map(draft);
  const outcomes = new Map<Draft, EnqueueOutcome>();
  for (let round = 0; round < rounds_max && outcomes.size < drafts.length; round += 1) {
    await insert(deps, openDrafts(drafts, outcomes), options, outcomes);
    const conflicting = openDrafts(drafts, outcomes).concat(repeatsOf(drafts, outcomes));
    if (conflicting.length > 0) settleConflicts(conflicting, await findByIdempotencyKeys(deps, conflicting), outcomes);
  }
  return drafts.map((one) => {
    const outcome = outcomes.get(one);
    if (!outcome) throw new Error(`an idempotency key kept changing under us: ${rounds_max} rounds were not enough`);
    tell(deps, one, outcome);
    return outcome;
  });
}

type Draft = { id: string; tenant: string; request: SubmitJob; key: string | null; hash: string; payload: string };

function draft({ tenant, request, idempotency_key }: Submission): Draft {
  const payload = canonicalJson(request.payload);
  const hash = idempotency_key === undefined ? "" : createHash("sha256").update(canonicalJson(request)).digest("hex");
  return { id: uuidv7(), tenant, request, key: idempotency_key ?? null, hash, payload };
}

/** Those without an outcome, one per key: a statement meets each key once. */
function openDrafts(drafts: Draft[], outcomes: Map<Draft, EnqueueOutcome>): Draft[] {
  const seen = new Set<string>();
  return drafts.filter((one) => {
    if (outcomes.has(one)) return false;
    if (one.key === null) return true;
    const key = `${one.tenant} ${one.key}`;
    return !seen.has(key) && seen.add(key);
  });
}

function repeatsOf(drafts: Draft[], outcomes: Map<Draft, EnqueueOutcome>): Draft[] {
  const open = new Set(openDrafts(drafts, outcomes));
  return drafts.filter((one) => !outcomes.has(one) && !open.has(one));
}

/**
 * The keys go in first, in one order over all processes (else two statements could deadlock); only those whose key
 * was new get a job. A conflict waits for the other transaction to end, so the SELECT that follows sees its row:
 * that SELECT must stay a statement of its own, as this one's snapshot is older than the row.
 */
async function insert(
  deps: Deps,
  drafts: Draft[],
  options: EnqueueOptions,
  outcomes: Map<Draft, EnqueueOutcome>,
): Promise<void> {
  const rows = drafts.map(({ id, tenant, request, key, hash, payload }) => ({
    id,
    tenant,
    key,
    hash,
    payload,
    queue: request.queue,
    type: request.type,
    priority: request.priority,
    max_attempts: request.max_attempts,
    timeout_seconds: request.timeout_seconds,
    backoff: request.backoff,
    run_at: request.run_at,
    delay: request.delay_seconds,
  }));
  const { sql } = deps.database;
  const created = await bounded(
    deps.database,
    sql<Pick<JobRow, "id" | "status" | "run_at" | "created_at">[]>`
    WITH input AS MATERIALIZED (
      SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS ready_at
      FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS input(
        id uuid, tenant text, key text, hash text, queue text, type text, priority smallint, max_attempts smallint,
        timeout_seconds integer, backoff json, run_at timestamptz, delay float8, payload text)
    ), new_keys AS (
      INSERT INTO idempotency_keys (tenant, key, request_hash, job_id, expires_at)
      SELECT tenant, key, decode(hash, 'hex'), id, now() + make_interval(secs => ${options.idempotency_ttl_seconds}::float8)
      FROM input WHERE key IS NOT NULL ORDER BY tenant, key
      ON CONFLICT DO NOTHING
      RETURNING job_id
    )
    INSERT INTO jobs (id, tenant, queue, type, status, priority, max_attempts, timeout_seconds, backoff, run_at,
                      created_at, updated_at, payload)
    SELECT id, tenant, queue, type, CASE WHEN ready_at > now() THEN 'scheduled' ELSE 'queued' END, priority,
           max_attempts, timeout_seconds, backoff, ready_at, now(), now(), payload::json
    FROM input WHERE key IS NULL OR id IN (SELECT job_id FROM new_keys)
    RETURNING id, status, run_at, created_at`,
  );
  const byId = new Map(created.map((row) => [row.id, row]));
  for (const one of drafts) {
    const row = byId.get(one.id);
    if (row) outcomes.set(one, { kind: "created", job: newRow(one, row) });
  }
}

function settleConflicts(drafts: Draft[], found: KeyedJob[], outcomes: Map<Draft, EnqueueOutcome>): void {
  const byKey = new Map(found.map((row) => [`${row.key_tenant} ${row.key}`, row]));
  for (const one of drafts) {
    const row = byKey.get(`${one.tenant} ${one.key}`);
    if (row)
      outcomes.set(one, row.request_hash === one.hash ? { kind: "replayed", job: row.job } : { kind: "mismatch" });
  }
}

/** The row as it was just written, without reading the payload back. */
function newRow(one: Draft, row: Pick<JobRow, "id" | "status" | "run_at" | "created_at">): JobRow {
  const { request } = one;
  return {
    ...row,
    tenant: one.tenant,
    queue: request.queue,
    type: request.type,
    priority: request.priority,
    attempts: 0,
    max_attempts: request.max_attempts,
    timeout_seconds: request.timeout_seconds ?? null,
    updated_at: row.created_at,
    started_at: null,
    finished_at: null,
    lease_token: null,
    locked_until: null,
    worker_id: null,
    group_key: null,
    dead_reason: null,
    last_error: null,
    backoff: request.backoff ?? null,
    progress: null,
    payload: request.payload,
    result: null,
  };
}

function tell(deps: Deps, one: Draft, outcome: EnqueueOutcome): void {
  const about = { job_type: one.request.type, queue: one.request.queue };
  if (outcome.kind === "created")
    deps.observe({ event: "job_created", job_id: one.id, ...about, status: outcome.job.status });
  else if (outcome.kind === "replayed")
    deps.observe({ event: "idempotent_submission", job_id: outcome.job.id, ...about });
  else deps.observe({ event: "idempotency_mismatch", ...about });
}
