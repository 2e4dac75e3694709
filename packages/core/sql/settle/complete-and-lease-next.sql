-- $1 ids
-- $2 token_places
-- $3 tokens
-- $4 results
-- $5 logs
-- $6 next_token
-- $7 worker_id
-- $8 lease_seconds
-- $9 whole
-- $10 types
WITH going_on AS MATERIALIZED (
    SELECT ended.id, next.id AS next_id, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) - bytes AS before
    FROM atlasqueue.jobs AS ended CROSS JOIN LATERAL (
      SELECT id, (
        SELECT CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END FROM atlasqueue.jobs
        WHERE ctid = first.spot AND id = first.id AND group_seq > 0 AND run_at <= statement_timestamp() AND (expires_at IS NULL OR attempts > 0 OR expires_at > statement_timestamp()) AND ($10::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($10::text, '')::text[]))))
        FOR NO KEY UPDATE SKIP LOCKED) AS bytes
      FROM (
      SELECT ctid AS spot, id FROM atlasqueue.jobs WHERE jobs.tenant = ended.tenant AND jobs.queue = ended.queue AND jobs.group_key = ended.group_key AND group_seq > 0 ORDER BY group_seq LIMIT 1) AS first
      WHERE (SELECT cardinality(heads) = 1 FROM atlasqueue.job_groups AS one WHERE one.tenant = ended.tenant AND one.queue = ended.queue AND one.group_key = ended.group_key) OFFSET 0) AS next
    WHERE ended.id = ANY((SELECT $1::uuid[])::uuid[]) AND bytes IS NOT NULL AND coalesce((
      SELECT paused_at IS NULL AND coalesce(group_concurrency, 1) = 1 AND NOT (fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL))
      FROM atlasqueue.queues WHERE queues.tenant = ended.tenant AND queues.queue = ended.queue), true)
  ), goes AS MATERIALIZED (
    SELECT id, next_id FROM going_on WHERE before < 4194304
  ), settled AS (
    UPDATE atlasqueue.jobs SET status = 'succeeded', active_group_key = NULL, last_error = NULL, result = (CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) ->> jobs.id::text) END)::json,
                    finished_at = now(), updated_at = now(), locked_until = NULL
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END AND CASE WHEN true THEN jobs.id IN (SELECT id FROM goes) END
    RETURNING jobs.id, tenant, queue, attempts, worker_id, started_at, has_children
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM settled WHERE has_children
    RETURNING key::uuid AS job_id
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, logs)
    SELECT tenant, id, attempts, worker_id, started_at, now(), 'succeeded', (CASE WHEN (SELECT $5::text <> '{}') THEN ((SELECT $5::text::jsonb) -> id::text) END)::json
    FROM settled WHERE (SELECT $5::text <> '{}') AND (CASE WHEN (SELECT $5::text <> '{}') THEN ((SELECT $5::text::jsonb) -> id::text) END) IS NOT NULL
  ), leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', group_seq = NULL, active_group_key = group_key, attempts = attempts + 1,
                    lease_token = $6::text::uuid, worker_id = $7,
                    started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $8::float8)
    WHERE id = ANY(ARRAY(SELECT next_id FROM goes WHERE id IN (SELECT id FROM settled))) AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL
    RETURNING tenant, id, queue, type, priority, attempts, max_attempts,
              CASE WHEN $9::text::boolean THEN row_to_json(jobs) ELSE payload END AS payload, timeout_seconds, backoff, last_error, group_key,
              flow_id, date_part('epoch', statement_timestamp() - run_at) AS waited_seconds,
              CASE WHEN traceparent IS NOT NULL THEN json_build_array(traceparent, tracestate, run_at > created_at) END AS trace
  ), batch AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
    SELECT tenant, $6::text::uuid, $7, statement_timestamp() + make_interval(secs => $8::float8), array_agg(id)
    FROM leased GROUP BY tenant
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, blocked, running, succeeded)
    SELECT tenant, queue, -sum(taken), sum(taken * 2 - 1), sum(1 - taken) FROM (SELECT tenant, queue, 0 AS taken FROM settled UNION ALL SELECT tenant, queue, 1 FROM leased) AS moved GROUP BY tenant, queue
  ), answer AS (
    SELECT json_build_object('parents', (SELECT json_agg(job_id) FROM noted_parents), 'refused', json_agg(id)) AS settlement
    FROM unnest($1::uuid[]) AS input(id)
    WHERE (SELECT count(*) FROM settled) < cardinality($1::uuid[]) AND id NOT IN (SELECT id FROM settled)
  )
  SELECT * FROM answer FULL JOIN leased ON false;
