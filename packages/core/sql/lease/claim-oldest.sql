-- $1 lease_token
-- $2 worker_id
-- $3 lease_seconds
-- $4 tenant
-- $5 whole
-- $6 types
-- $7 queues
-- $8 jobs_max
WITH 
  leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $3::float8)
    WHERE id = ANY(ARRAY(
      SELECT ready.id
      FROM unnest(ARRAY(
  SELECT queue FROM unnest($7::text[]) AS wanted(queue)
  WHERE NOT EXISTS (
    SELECT FROM atlasqueue.queues WHERE tenant = $4 AND queues.queue = wanted.queue AND (paused_at IS NOT NULL OR (fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)))))) AS served(queue),
           LATERAL (SELECT id, priority, ready_at FROM atlasqueue.jobs
                    WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL AND (expires_at IS NULL OR attempts > 0 OR expires_at > statement_timestamp()) AND ($6::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($6::text, '')::text[]))))
                    ORDER BY priority DESC, ready_at, id LIMIT $8::int
                    FOR UPDATE SKIP LOCKED) AS ready
      ORDER BY ready.priority DESC, ready.ready_at, ready.id LIMIT $8::int)) AND status = 'queued' AND (expires_at IS NULL OR attempts > 0 OR expires_at > statement_timestamp()) AND ($6::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($6::text, '')::text[])))) AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL
    RETURNING id, queue, type, priority, attempts, max_attempts,
              CASE WHEN $5::text::boolean THEN row_to_json(jobs) ELSE payload END AS payload, timeout_seconds, backoff, last_error, group_key,
              flow_id, date_part('epoch', statement_timestamp() - run_at) AS waited_seconds,
              CASE WHEN traceparent IS NOT NULL THEN json_build_array(traceparent, tracestate, run_at > created_at) END AS trace, CASE WHEN group_key IS NOT NULL THEN (
      SELECT true FROM atlasqueue.jobs AS behind
      WHERE behind.tenant = jobs.tenant AND behind.queue = jobs.queue AND behind.group_key = jobs.group_key AND behind.group_seq > 0
      ORDER BY behind.group_seq LIMIT 1
    ) IS NOT NULL END AS followed, CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END AS payload_bytes
  ), batch AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
    SELECT $4, $1::text::uuid, $2, statement_timestamp() + make_interval(secs => $3::float8), array_agg(id) FROM leased HAVING count(*) > 0
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, queued, running)
    SELECT tenant, queue, -count(*), count(*) FROM (SELECT $4 AS tenant, queue FROM leased) AS leased GROUP BY tenant, queue
  ) SELECT * FROM leased WHERE (
    SELECT set_config('synchronous_commit',
      CASE WHEN bool_or(group_key IS NOT NULL) THEN current_setting('synchronous_commit') ELSE 'off' END, true)
    FROM leased) IS NOT NULL;
