/**
 * A part of a WITH: the jobs that were seen to have unique keys, as far as their rows are still what was seen. Those that
 * another transaction has locked are not among them, as nothing may wait for a job here.
 */
export const lockHolders = (wanted: string) => `
  holders AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT seen FROM ${wanted} WHERE seen IS NOT NULL))
      AND (id, xmin::text) IN (SELECT seen, version FROM ${wanted} WHERE seen IS NOT NULL)
    FOR UPDATE SKIP LOCKED
  )`;

/**
 * A part of a WITH: scheduled | queued | failed | blocked → scheduled, queued or blocked, with everything a newer
 * request says: debounce. A job keeps its id, its group and its place there, and while it stays queued, its place in
 * the queue.
 *
 * `contents` is a part with each job to be replaced (`seen`) and the columns it should get, one row per job.
 */
export const replaceHolders = (contents: string) => `
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
    FROM ${contents} AS content JOIN holders ON holders.id = content.seen
    WHERE jobs.id = holders.id AND jobs.id = ANY(ARRAY(SELECT seen FROM ${contents}))
    RETURNING jobs.id, jobs.tenant, jobs.queue, holders.status AS was, jobs.status, jobs.run_at, jobs.ready_at, jobs.due_at,
              jobs.updated_at
  )`;

const isLater = "content.starts_at > now()";
