import type { Job, Json, JsonObject } from "@atlasqueue/contract";
import type { JobRow } from "../database/schema/index.ts";
import type { PageRow } from "./page-row.ts";

/** A row as the wire shows it. That of a page is to be written by `writeJson`. */
export function showJob(row: JobRow | PageRow): Job {
  return {
    id: row.id,
    type: row.type,
    queue: row.queue,
    status: row.status,
    priority: row.priority,
    attempts: row.attempts,
    max_attempts: row.max_attempts,
    payload: row.payload as JsonObject,
    result: row.result as Json,
    last_error: row.last_error,
    run_at: row.run_at.toISOString(),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: (row.attempts === 0 && row.expires_at?.toISOString()) || null,
    group: row.group_key,
    tags: row.tags,
    worker_id: row.worker_id,
    locked_until: row.locked_until?.toISOString() ?? null,
    progress: row.progress as Json,
    timeout_seconds: row.timeout_seconds,
    retention_seconds: row.retention_seconds,
    result_ttl_seconds: row.result_ttl_seconds,
    dead_reason: row.dead_reason,
    waits_for: row.waits_for,
    traceparent: row.traceparent,
    tracestate: row.tracestate,
    flow_id: row.flow_id,
  };
}
