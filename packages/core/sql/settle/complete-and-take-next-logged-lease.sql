-- $1 ids
-- $2 token_places
-- $3 tokens
-- $4 results
-- $5 logs
-- $6 going_on
-- $7 next_token
-- $8 worker_id
-- $9 lease_seconds
WITH 
   settled AS (
    UPDATE jobs SET status = 'succeeded', finished_at = now(), updated_at = now(), locked_until = NULL, last_error = NULL,
                    holds_group = NULL, result = ((SELECT $4::text::jsonb) ->> jobs.id::text)::json
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END
    RETURNING jobs.id, tenant, queue, has_children , group_key , attempts, worker_id, started_at
  ), noted_parents AS (
    INSERT INTO outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM settled WHERE has_children
    RETURNING key::uuid AS job_id
  ) , history AS (
    INSERT INTO job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome, logs)
    SELECT id, attempts, worker_id, started_at, now(), 'succeeded', ((SELECT $5::text::jsonb) -> id::text)::json
    FROM settled WHERE ((SELECT $5::text::jsonb) -> id::text) IS NOT NULL
  ), 
  going_on AS MATERIALIZED (
    SELECT next.lies_at, next.id, next.blocked_seq
    FROM settled CROSS JOIN LATERAL (
      SELECT ctid AS lies_at, id, blocked_seq FROM jobs
      WHERE jobs.tenant = settled.tenant AND jobs.queue = settled.queue AND jobs.group_key = settled.group_key AND blocked_seq > 0
      ORDER BY blocked_seq LIMIT 1) AS next
    WHERE CASE WHEN true THEN settled.id IN (SELECT unnest((SELECT $6::uuid[])::uuid[])) END
      AND NOT EXISTS (
        SELECT FROM queues WHERE queues.tenant = settled.tenant AND queues.queue = settled.queue
          AND (paused_at IS NOT NULL OR group_concurrency > 1 OR fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)))
      AND (
        SELECT cardinality(heads) = 1 FROM job_groups AS one
        WHERE one.tenant = settled.tenant AND one.queue = settled.queue AND one.group_key = settled.group_key)
  ), due AS MATERIALIZED (
    SELECT ctid AS lies_at, id, CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END AS bytes FROM jobs
    WHERE ctid = ANY(ARRAY(SELECT lies_at FROM going_on)) AND CASE WHEN true THEN (id, blocked_seq) IN (SELECT id, blocked_seq FROM going_on) END
      AND run_at <= statement_timestamp()
    FOR NO KEY UPDATE SKIP LOCKED
  ), leased AS (
    UPDATE jobs SET status = 'running', blocked_seq = NULL, holds_group = group_key, attempts = attempts + 1,
                    lease_token = $7::text::uuid, worker_id = $8,
                    started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $9::float8)
    WHERE ctid = ANY(ARRAY(
        SELECT lies_at FROM (SELECT lies_at, sum(bytes) OVER (ORDER BY id) - bytes AS before FROM due) AS weighed
        WHERE before < 4194304))
      AND status = 'blocked' AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL
    RETURNING tenant, id, queue, type, priority, attempts, max_attempts, payload, timeout_seconds, backoff, last_error, group_key, flow_id, date_part('epoch', statement_timestamp() - run_at) AS waited_seconds
  ), batch AS (
    INSERT INTO lease_batches (token, worker_id, check_at, job_ids)
    SELECT $7::text::uuid, $8, statement_timestamp() + make_interval(secs => $9::float8), array_agg(id)
    FROM leased HAVING count(*) > 0
  ), counted AS (
    INSERT INTO queue_changes (tenant, queue, blocked, running, succeeded)
    SELECT tenant, queue, -count(*) FILTER (WHERE taken), count(*) FILTER (WHERE taken) - count(*) FILTER (WHERE NOT taken), count(*) FILTER (WHERE NOT taken) FROM (SELECT tenant, queue, false AS taken FROM settled UNION ALL SELECT tenant, queue, true FROM leased) AS moved GROUP BY tenant, queue
  ), left_to_notes AS (
    SELECT tenant, queue, group_key FROM settled
    WHERE (tenant, queue, group_key) NOT IN (SELECT tenant, queue, group_key FROM leased)
  ), handed AS (
    INSERT INTO group_handovers (tenant, queue, group_key)
    SELECT DISTINCT tenant, queue, group_key FROM left_to_notes WHERE group_key IS NOT NULL
  )
  SELECT answer.*, leased.* FROM (SELECT json_agg(input.id) AS refused, (SELECT json_agg(job_id) FROM noted_parents) AS parents FROM unnest($1::uuid[], $2::int[]) AS input(id, token)
  WHERE (SELECT count(*) FROM settled) < cardinality($1::uuid[]) AND input.id NOT IN (SELECT id FROM settled)) AS answer LEFT JOIN leased ON true;
