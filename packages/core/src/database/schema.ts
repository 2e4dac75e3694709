import { sql } from "drizzle-orm";
import {
  check,
  customType,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
  bigserial,
} from "drizzle-orm/pg-core";
import { jobStatuses, type Backoff, type JobStatus, type Json, type JsonObject } from "@atlasqueue/contract";

const time = () => timestamp({ withTimezone: true, precision: 6 });
const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/**
 * The truth about every job. Columns that come together in an index predicate decide what an UPDATE costs:
 * read decisions/ before adding an index, as each one is paid for by every submit, claim and settle.
 */
export const jobs = pgTable(
  "jobs",
  {
    id: uuid().primaryKey(),
    tenant: text().notNull().default("default"),
    queue: text().notNull().default("default"),
    type: text().notNull(),
    status: text().$type<JobStatus>().notNull(),
    priority: smallint().notNull().default(0),
    /** Committed claims, less the leases that a graceful shutdown gave back. */
    attempts: smallint().notNull().default(0),
    max_attempts: smallint().notNull().default(5),
    timeout_seconds: integer(),
    /** From when the job may run; for a queued job, since when it has been ready. Decides the order in a queue. */
    run_at: time().notNull(),
    created_at: time().notNull(),
    updated_at: time().notNull(),
    started_at: time(),
    finished_at: time(),
    /** The fence: only the holder of this token may settle the attempt. Kept afterwards, to recognise a repeated ack. */
    lease_token: uuid(),
    locked_until: time(),
    worker_id: text(),
    group_key: text(),
    dead_reason: text(),
    last_error: text(),
    backoff: json().$type<Backoff>(),
    progress: json().$type<Json>(),
    payload: json().$type<JsonObject>().notNull(),
    result: json().$type<Json>(),
  },
  (job) => [
    check("jobs_status_known", sql.raw(`status IN (${jobStatuses.map((status) => `'${status}'`).join(", ")})`)),
    // The order of a queue: what the sweep signals again and the fallback claims by.
    index("jobs_ready")
      .on(job.tenant, job.queue, job.priority.desc().nullsFirst(), job.run_at, job.id)
      .where(sql`status = 'queued'`),
    index("jobs_due")
      .on(job.run_at)
      .where(sql`status IN ('scheduled', 'failed')`),
    // By id, not by locked_until: renewing a lease then touches no index.
    index("jobs_running")
      .on(job.id)
      .where(sql`status = 'running'`),
    index("jobs_dead")
      .on(job.finished_at, job.id)
      .where(sql`status = 'dead'`),
  ],
);
export type JobRow = typeof jobs.$inferSelect;

/** One row per accepted key, written in the job's own transaction. */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    tenant: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of the canonical request. */
    request_hash: bytes().notNull(),
    job_id: uuid().notNull(),
    expires_at: time().notNull(),
  },
  (row) => [primaryKey({ columns: [row.tenant, row.key] })],
);

/** Attempts that the job row itself no longer tells: failed, lost and cancelled ones. The happy path writes none. */
export const jobAttempts = pgTable(
  "job_attempts",
  {
    id: bigserial({ mode: "number" }).primaryKey(),
    job_id: uuid().notNull(),
    attempt: smallint().notNull(),
    worker_id: text(),
    started_at: time(),
    finished_at: time().notNull(),
    outcome: text().$type<"failed" | "lost" | "cancelled">().notNull(),
    error: text(),
  },
  (row) => [index("job_attempts_job").on(row.job_id, row.id)],
);
