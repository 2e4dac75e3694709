import type { Execute } from "../database/statement.ts";
import type { JobRow } from "../database/schema.ts";
import { countMixedMoves } from "./count-changes.ts";
import type { Draft } from "./insert-jobs.ts";

/**
 * scheduled | queued | failed | blocked → scheduled, queued or blocked, with all that a newer request says: debounce. It
 * keeps its id, its group, its place in that, and while it stays queued its place in the queue. The row must be locked.
 * Undefined when it had been started.
 */
export async function replaceJob(execute: Execute, id: string, { tenant, request, payload }: Draft) {
  const [row] = await execute<JobRow & { was: JobRow["status"] }>({
    text,
    params: [
      id,
      tenant,
      request.type,
      request.priority,
      request.max_attempts,
      request.timeout_seconds ?? "",
      request.run_at ?? "",
      request.delay_seconds ?? 0,
      request.backoff ? JSON.stringify(request.backoff) : "",
      payload,
    ],
  });
  if (!row) return undefined;
  const { was, ...job } = row;
  return { job, was };
}

const startsAt = `greatest(now(), coalesce(nullif($7::text, '')::timestamptz, now() + make_interval(secs => $8::float8)))`;
const isLater = `(SELECT at > now() FROM start)`;

const text = `
  WITH start AS MATERIALIZED (SELECT ${startsAt} AS at), was AS MATERIALIZED (
    SELECT id, status FROM jobs WHERE id = $1::uuid AND tenant = $2 AND status IN ('scheduled', 'queued', 'failed', 'blocked')
  ), replaced AS (
    UPDATE jobs SET type = $3, priority = $4::smallint, max_attempts = $5::smallint,
                    timeout_seconds = nullif($6::text, '')::integer, backoff = nullif($9::text, '')::json,
                    payload = $10::text::json, run_at = (SELECT at FROM start),
                    status = CASE WHEN jobs.status = 'blocked' THEN 'blocked' WHEN ${isLater} THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN jobs.status <> 'blocked' AND NOT ${isLater} THEN coalesce(ready_at, now()) END,
                    due_at = CASE WHEN jobs.status <> 'blocked' AND ${isLater} THEN (SELECT at FROM start) END,
                    attempts = 0, started_at = NULL, worker_id = NULL, lease_token = NULL, last_error = NULL, progress = NULL,
                    updated_at = now()
    FROM was WHERE jobs.id = was.id
    RETURNING jobs.*, was.status AS was
  ), moved AS (
    SELECT tenant, queue, was AS from_status, status AS to_status FROM replaced
  ), ${countMixedMoves("moved")}
  SELECT * FROM replaced`;
