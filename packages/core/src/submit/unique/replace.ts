/**
 * Parts of a WITH: scheduled | queued | failed | blocked → scheduled, queued or blocked, with everything a newer
 * request says: debounce. A job keeps its id, its group and its place there, and while it stays queued, its place in
 * the queue.
 *
 * `targets` are the jobs whose ids are in `wanted`, another part; jobs that have started, of which some steps may be done, that are part of a flow, or that others wait for, or that are locked are not among them, as nothing may wait for a job here.
 */
export const lockTargets = (wanted: string) => `
  targets AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT target FROM ${wanted} WHERE target IS NOT NULL))
      AND status IN ('scheduled', 'queued', 'failed', 'blocked') AND has_steps IS NULL AND flow_id IS NULL AND has_children IS NULL
    FOR UPDATE SKIP LOCKED
  )`;

/** `contents` is a part with each target and the columns it should get, one row per target. */
export const replaceTargets = (contents: string) => `
  replaced AS (
    UPDATE atlasqueue.jobs SET type = content.type, priority = content.priority, max_attempts = content.max_attempts,
                    timeout_seconds = content.timeout_seconds, backoff = nullif(content.backoff::text, 'null')::json,
                    payload = content.payload, traceparent = content.traceparent, tracestate = content.tracestate,
                    run_at = content.starts_at,
                    status = CASE WHEN jobs.status = 'blocked' THEN 'blocked' WHEN ${isLater} THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN jobs.status <> 'blocked' AND NOT ${isLater} THEN coalesce(ready_at, now()) END,
                    due_at = CASE WHEN jobs.status <> 'blocked' AND ${isLater} THEN content.starts_at END,
                    attempts = 0, started_at = NULL, worker_id = NULL, lease_token = NULL, last_error = NULL, progress = NULL,
                    updated_at = now()
    FROM ${contents} AS content JOIN targets ON targets.id = content.target
    WHERE jobs.id = targets.id AND jobs.id = ANY(ARRAY(SELECT id FROM targets))
    RETURNING jobs.id, jobs.tenant, jobs.queue, targets.status AS was, jobs.status, jobs.run_at, jobs.ready_at, jobs.due_at,
              jobs.updated_at
  )`;

const isLater = "content.starts_at > now()";
