import {
  jobStatuses,
  type JobStatus,
  type Json,
  type JsonObject,
  type OpenQueueJob,
  type OpenQueueStatus,
} from "@atlasqueue/contract";
import type { JobRow, PageRow } from "@atlasqueue/core/internal/http";

const words: Record<JobStatus, OpenQueueStatus> = {
  scheduled: "pending",
  blocked: "pending",
  queued: "pending",
  failed: "pending",
  running: "processing",
  succeeded: "completed",
  cancelled: "cancelled",
  dead: "dead",
};

/** OpenQueue's word for one of our statuses. */
export function wordOf(status: JobStatus): OpenQueueStatus {
  return words[status];
}

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
    status: wordOf(row.status),
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
