import {
  sql,
  bigint,
  boolean,
  index,
  integer,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
  bigserial,
  atlasqueue,
  bytes,
  time,
  json,
} from "../drizzle.ts";
import { type Backoff, type JobStatus, type Json, type JsonObject, type LogLine } from "@atlasqueue/contract";

/**
 * The truth about every job.
 *
 * No index may name a column that settling a job changes, `status` above all, not even in its WHERE: then PostgreSQL
 * writes the settled row on the same page and touches no index (a HOT update), which costs 40 % less. So each state
 * that is searched for has its own timestamp, set while the job is in that state and null otherwise, and the partial
 * indexes are on those. What holds them to `status` is in counts/job-checks.ts. Running jobs are found through `claims`. See decisions/2026-11-20-storage.md before
 * adding one.
 *
 * An update logs what lies between the first and the last byte that it changes. So what stays comes first, then what a
 * claim sets, then what a settlement sets, and `payload` last. Times stand together: each is aligned to 8 bytes.
 *
 * Tenants, queues and keys are in byte order (COLLATE "C"), which drizzle cannot express.
 */
export const jobs = atlasqueue.table(
  "jobs",
  {
    id: uuid().primaryKey(),
    tenant: text().notNull().default("default"),
    queue: text().notNull().default("default"),
    type: text().notNull(),
    priority: smallint().notNull().default(0),
    max_attempts: smallint().notNull().default(5),
    timeout_seconds: integer(),
    /** How long it is kept after its end, and its result; null: as the server's settings say. Settling changes neither. */
    retention_seconds: integer(),
    result_ttl_seconds: integer(),
    created_at: time().notNull(),
    /** From when the job may run. */
    run_at: time().notNull(),
    /** Not removed before then, as an idempotency key made with it names it until then. */
    kept_until: time(),
    /** When it is cancelled unless an attempt has counted by then. */
    expires_at: time(),
    /** Until when it holds its unique key, whatever its status; null: until it has ended. */
    unique_until: time(),
    started_at: time(),
    /** The fence: only the holder of this token may settle the attempt. Kept afterwards, to recognise a repeated ack. */
    lease_token: uuid(),
    /** While queued: since when. Decides the order in a queue. */
    ready_at: time(),
    /** While scheduled or failed: when it becomes ready, the same as `run_at`. */
    due_at: time(),
    /** While dead: since when. */
    dead_at: time(),
    /** While blocked: its place in its group; 0 before it has one, see `outbox` and `flowEdges`. */
    group_seq: bigint({ mode: "number" }),
    updated_at: time().notNull(),
    finished_at: time(),
    locked_until: time(),
    /** Committed claims, less the leases given back by a graceful shutdown. */
    attempts: smallint().notNull().default(0),
    worker_id: text(),
    status: text().$type<JobStatus>().notNull(),
    dead_reason: text(),
    /** While it is the one job of its group that may run: the group. */
    active_group_key: text(),
    /** While dead: the name of its error's pattern, by which dead letters are grouped. */
    error_fingerprint: text(),
    /** While it is parked: the name of the signal it waits for. */
    waits_for: text(),
    /** It has steps, signals or waits, which those that only read jobs need not look for otherwise. */
    has_steps: boolean(),
    /** Jobs wait for it, or did: when it ends they must hear of it. */
    has_children: boolean(),
    last_error: text(),
    progress: json<Json>(),
    result: json<Json>(),
    group_key: text(),
    /** The unique key it holds, on its own terms. A job that has ended keeps it until the next one takes it. */
    unique_key: text(),
    tags: text().array(),
    backoff: json<Backoff>(),
    /** Where the request that submitted it belongs in a trace (W3C Trace Context): no part of what it asked for. */
    traceparent: text(),
    tracestate: text(),
    /** The flow it was submitted in, if any. */
    flow_id: uuid(),
    payload: json<JsonObject>().notNull(),
  },
  (job) => [
    // The order of a queue: what the sweep signals again and the fallback claims by.
    index("jobs_ready")
      .on(job.tenant, job.queue, job.priority.desc().nullsFirst(), job.ready_at, job.id)
      .where(sql`ready_at IS NOT NULL`),
    index("jobs_due")
      .on(job.due_at)
      .where(sql`due_at IS NOT NULL`),
    index("jobs_expiring")
      .on(job.expires_at)
      .where(sql`expires_at IS NOT NULL AND attempts = 0`),
    // Tenants and queues in turn, when there are more due jobs than a page.
    index("jobs_due_turns")
      .on(job.tenant, job.queue, job.due_at)
      .where(sql`due_at IS NOT NULL`),
    index("jobs_dead")
      .on(job.dead_at, job.id)
      .where(sql`dead_at IS NOT NULL`),
    // Groups of dead letters, and those of one group.
    index("jobs_dead_groups")
      .on(job.tenant, job.type, job.error_fingerprint, job.dead_at, job.id)
      .where(sql`dead_at IS NOT NULL AND error_fingerprint IS NOT NULL`),
    index("jobs_blocked")
      .on(job.tenant, job.queue, job.group_key, job.group_seq)
      .where(sql`group_seq IS NOT NULL`),
    // Whether a flow goes on: its jobs that wait for anything; the claims lead to those that run.
    index("jobs_waiting_of_flow")
      .on(job.flow_id)
      .where(sql`flow_id IS NOT NULL AND (ready_at IS NOT NULL OR due_at IS NOT NULL OR group_seq IS NOT NULL)`),
    // The backstop behind the groups' rows: two jobs of a group cannot be let through at once, whatever goes wrong.
    uniqueIndex("jobs_active_group_key")
      .on(job.tenant, job.queue, job.active_group_key)
      .where(sql`active_group_key IS NOT NULL`),
    // Of a queue's jobs, one has a unique key. Settling does not touch the column: the next job takes it away.
    uniqueIndex("jobs_unique_key")
      .on(job.tenant, job.queue, job.unique_key)
      .where(sql`unique_key IS NOT NULL`),
    // Those to be looked at before their time would come by the server's settings.
    index("jobs_kept")
      .on(job.id)
      .where(sql`retention_seconds IS NOT NULL OR result_ttl_seconds IS NOT NULL`),
    // Of jobs with tags, which no statement changes later.
    index("jobs_tags")
      .using("gin", job.tags)
      .where(sql`tags IS NOT NULL`),
  ],
);
export type JobRow = typeof jobs.$inferSelect;

/**
 * Which jobs may be running: one row per claim, however many jobs it took, so that tracking them costs next to nothing.
 * `locked_until` on the job says whether it still is. A worker with a database connection deletes the row when all of them
 * are settled; otherwise the sweep looks at them at `check_at`. Once none runs any more, the row has no jobs and stays for
 * another minute, as a token leases once.
 */
export const claims = atlasqueue.table(
  "claims",
  {
    tenant: text().notNull(),
    /** The lease token of its jobs. */
    token: uuid().notNull(),
    worker_id: text().notNull(),
    check_at: time().notNull(),
    job_ids: uuid().array().notNull(),
  },
  // The token first: a worker with a database connection looks its claims up by it alone.
  (batch) => [
    primaryKey({ name: "claims_pkey", columns: [batch.token, batch.tenant] }),
    index("claims_check").on(batch.check_at),
  ],
);

/** One row per accepted key, written in the job's own transaction. */
export const idempotencyKeys = atlasqueue.table(
  "idempotency_keys",
  {
    tenant: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of the canonical request. */
    request_hash: bytes().notNull(),
    job_id: uuid().notNull(),
    expires_at: time().notNull(),
    /** True when it names a job that already existed; null, which costs nothing, when the job was made with it. */
    is_alias: boolean(),
  },
  (row) => [
    primaryKey({ columns: [row.tenant, row.key] }),
    index("idempotency_keys_is_alias")
      .on(row.job_id)
      .where(sql`is_alias`),
    // Keys of one INSERT expire together, so the index holds one entry for many and costs next to nothing.
    index("idempotency_keys_expiry").on(row.expires_at),
  ],
);

/**
 * Attempts the job row itself no longer shows: failed, lost and cancelled ones, and succeeded ones that logged
 * something. The happy path writes none.
 */
export const jobAttempts = atlasqueue.table(
  "job_attempts",
  {
    tenant: text().notNull(),
    job_id: uuid().notNull(),
    id: bigserial({ mode: "number" }).notNull(),
    attempt: smallint().notNull(),
    worker_id: text(),
    started_at: time(),
    finished_at: time().notNull(),
    outcome: text().$type<"failed" | "lost" | "cancelled" | "succeeded">().notNull(),
    error: text(),
    /** What the handler logged; null if nothing. */
    logs: json<LogLine[]>(),
  },
  (row) => [primaryKey({ columns: [row.job_id, row.id] })],
);
