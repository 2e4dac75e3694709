/** The statements of core's submit, claim, settle and clean-up, as it sends them. */

const input = `(
  SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
  FROM ROWS FROM (
    unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
           $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[]),
    json_array_elements($10::text::json), json_array_elements($11::text::json)
  ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, backoff, payload)
) AS input`;

const unsynced = "(SELECT set_config('synchronous_commit', 'off', true)) = 'off'";

/** $1 … $11: a column each. */
export const insert = `
  WITH made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, priority, max_attempts, timeout_seconds, backoff,
                      run_at, ready_at, due_at, created_at, updated_at, payload)
    SELECT id, tenant, queue, type, CASE WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END, priority, max_attempts,
           timeout_seconds, CASE WHEN json_typeof(backoff) = 'null' THEN NULL ELSE backoff END,
           starts_at, CASE WHEN starts_at > now() THEN NULL ELSE starts_at END,
           CASE WHEN starts_at > now() THEN starts_at END, now(), now(), payload
    FROM ${input} RETURNING id, tenant, queue, due_at
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, queued, scheduled)
    SELECT tenant, queue, count(*) - count(due_at), count(due_at)
    FROM made GROUP BY tenant, queue
  )
  SELECT now() AS created_at,
         (SELECT json_agg(json_build_object('id', id, 'run_at', due_at)) FROM made WHERE due_at IS NOT NULL) AS later,
         NULL AS taken`;

const served = `ARRAY(
      SELECT queue FROM unnest($5::text[]) AS wanted(queue)
      WHERE NOT EXISTS (SELECT FROM atlasqueue.queues WHERE tenant = $4 AND queues.queue = wanted.queue AND paused_at IS NOT NULL))`;

/** $1 token, $2 worker, $3 lease seconds, $4 tenant, $5 queues, $6 ids. A crash may forget it, so it is not synced. */
export const claim = `
  WITH leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = now(), updated_at = now(),
                    locked_until = now() + make_interval(secs => $3::float8)
    WHERE id = ANY((SELECT $6::uuid[])::uuid[]) AND tenant = $4 AND queue = ANY(${served}) AND status = 'queued' AND ${unsynced}
    RETURNING id, queue, type, priority, attempts, max_attempts, payload, timeout_seconds, backoff, last_error
  ), batch AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
    SELECT $4, $1::text::uuid, $2, now() + make_interval(secs => $3::float8), array_agg(id) FROM leased HAVING count(*) > 0
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, queued, running)
    SELECT tenant, queue, -count(*), count(*) FROM (SELECT $4 AS tenant, queue FROM leased) AS leased GROUP BY tenant, queue
  )
  SELECT * FROM leased`;

/** $1 ids, $2 for each the place of its token in $3, $4 results. */
export const settle = `
  WITH settled AS (
    UPDATE atlasqueue.jobs SET status = 'succeeded', finished_at = now(), updated_at = now(), locked_until = NULL, last_error = NULL,
                    result = CASE WHEN json_typeof(input.result) = 'null' THEN NULL ELSE input.result END
    FROM ROWS FROM (unnest($1::uuid[], $2::int[]), json_array_elements($4::text::json)) AS input(id, token, result)
    WHERE jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.id = input.id AND jobs.status = 'running'
      AND jobs.lease_token = ($3::uuid[])[input.token]
    RETURNING jobs.id, tenant, jobs.queue
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running, succeeded)
    SELECT tenant, queue, -count(*), count(*) FROM settled GROUP BY tenant, queue
  )
  SELECT json_agg(input.id) AS refused FROM unnest($1::uuid[], $2::int[]) AS input(id, token)
  WHERE input.id NOT IN (SELECT id FROM settled)`;

/** $1 tokens of claims settled to the last job. */
export const forget = `DELETE FROM atlasqueue.claims WHERE token = ANY($1::uuid[]) AND ${unsynced}`;
