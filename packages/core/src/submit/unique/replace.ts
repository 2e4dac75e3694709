/**
 * A part of a WITH: scheduled | queued | failed | blocked → scheduled, queued or blocked, with everything a newer
 * request says: debounce. A job keeps its id, its group and its place there, and while it stays queued, its place in
 * the queue.
 *
 * `asked` is a part with the columns each should get, in the rows that are for it (`writes`), and `holders` has them locked.
 */
export const replaced = `replaced AS (
    UPDATE atlasqueue.jobs SET type = content.type, priority = content.priority, max_attempts = content.max_attempts,
                    timeout_seconds = content.timeout_seconds, backoff = nullif(content.backoff::text, 'null')::json,
                    payload = content.payload, traceparent = content.traceparent, tracestate = content.tracestate,
                    run_at = content.starts_at,
                    status = CASE WHEN jobs.status = 'blocked' THEN 'blocked' WHEN content.starts_at > now() THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN jobs.status <> 'blocked' AND NOT content.starts_at > now() THEN coalesce(ready_at, now()) END,
                    due_at = CASE WHEN jobs.status <> 'blocked' AND content.starts_at > now() THEN content.starts_at END,
                    attempts = 0, started_at = NULL, worker_id = NULL, lease_token = NULL, last_error = NULL, progress = NULL,
                    updated_at = now()
    FROM asked AS content JOIN holders ON holders.id = content.seen
    WHERE content.writes AND jobs.id = holders.id AND jobs.id = ANY(ARRAY(SELECT seen FROM asked WHERE writes))
    RETURNING jobs.id, jobs.tenant, jobs.queue, holders.status AS was, jobs.status, jobs.run_at, jobs.ready_at, jobs.due_at,
              jobs.updated_at
  )`;
