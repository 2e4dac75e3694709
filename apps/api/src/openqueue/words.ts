import {
  jobStatuses,
  type JobStatus,
  type Json,
  type JsonObject,
  type OpenQueueJob,
  type OpenQueueStatus,
  type OpenQueueSubmit,
  type SubmitJob,
} from "@atlasqueue/contract";
import type { JobRow, PageRow } from "@atlasqueue/core/internal/http";
import type { BackoffPolicy } from "@atlasqueue/core";

/** OpenQueue's words for our statuses. */
export const words: Record<JobStatus, OpenQueueStatus> = {
  scheduled: "pending",
  blocked: "pending",
  queued: "pending",
  failed: "pending",
  running: "processing",
  succeeded: "completed",
  cancelled: "cancelled",
  dead: "dead",
};

/**
 * Our statuses behind one of OpenQueue's words.
 *
 * @example
 * statusesOf("processing"); // ["running"]
 */
export function statusesOf(word: OpenQueueStatus): JobStatus[] {
  return jobStatuses.filter((status) => words[status] === word);
}

/** A row as OpenQueue's JobResponse. */
export function showOpenQueueJob(row: JobRow | PageRow): OpenQueueJob {
  return {
    id: row.id,
    queue_name: row.queue,
    status: words[row.status],
    priority: row.priority,
    payload: row.payload as JsonObject,
    result: row.result as Json,
    error_text: row.last_error,
    retry_count: retryCount(row),
    max_retries: row.max_attempts - 1,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/**
 * How many retries the job has had, including one it is waiting for. Its attempts are its runs; for a job that is
 * running, or was decided by its last run, the first one was not a retry. A cancelled job was usually waiting; one
 * cancelled while running, which only /v1 can do, counts that run too.
 */
function retryCount({ status, attempts }: Pick<JobRow, "status" | "attempts">): number {
  const ended_with_run = status === "running" || status === "succeeded" || status === "dead";
  return ended_with_run ? Math.max(attempts - 1, 0) : attempts;
}

/** The type of every job that comes in here, as OpenQueue's have none: our workers register a handler for it. */
const openQueueType = "openqueue";

/** A retry waits min(2^retry_count, 300) s. */
const backoff = { kind: "exponential", base_seconds: 1, max_seconds: 300 } as const;

/** How long a nack here waits when the job does not say: to the second, so without jitter. */
export const openQueueBackoff: BackoffPolicy = {
  baseSeconds: backoff.base_seconds,
  maxSeconds: backoff.max_seconds,
  jitterMaxSeconds: 0,
};

/**
 * An OpenQueue job as the request that would make it on /v1.
 *
 * @example
 * nativeRequest({ queue_name: "mail", payload: {}, priority: 0, max_retries: 3 }).max_attempts; // 4
 */
export function nativeRequest(job: OpenQueueSubmit): SubmitJob {
  return {
    type: openQueueType,
    queue: job.queue_name,
    payload: job.payload,
    priority: job.priority,
    max_attempts: job.max_retries + 1,
    run_at: job.run_at ?? undefined,
    backoff,
  };
}
