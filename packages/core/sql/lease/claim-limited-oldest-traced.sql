-- $1 lease_token
-- $2 worker_id
-- $3 lease_seconds
-- $4 tenant
-- $5 jobs_max
WITH open AS MATERIALIZED (
    SELECT queues.*, has.room::int AS room FROM json_each_text(nullif(current_setting('atlasqueue.room', true), '')::json) AS has(name, room)
    JOIN atlasqueue.queues ON queues.tenant = $4 AND queues.queue = has.name
  ), candidates AS MATERIALIZED (
    SELECT ready.id, ready.queue, ready.group_key, bytes, row_number() OVER (ORDER BY priority DESC, ready_at, id) AS place
    FROM open AS served, LATERAL (
      SELECT front.*, bytes FROM (
        SELECT id, jobs.queue, group_key, priority, ready_at FROM atlasqueue.jobs
        WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL
        ORDER BY priority DESC, ready_at, id LIMIT 5000) AS front, LATERAL (
        SELECT CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END AS bytes FROM atlasqueue.jobs
        WHERE jobs.id = front.id AND status = 'queued' FOR NO KEY UPDATE SKIP LOCKED) AS free
      WHERE (
    front.group_key IS NULL OR served.group_rate_limit IS NULL OR served.group_rate_limit >= 1 AND served.group_rate_limit >= 1 + (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE 
  queue_starts.tenant = served.tenant AND queue_starts.queue = served.queue AND queue_starts.group_key = front.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => served.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => served.group_rate_period_seconds)))
      ORDER BY priority DESC, ready_at, id
      LIMIT least($5::int, CASE WHEN served.group_rate_limit IS NULL THEN served.room END)) AS ready), in_group AS (
    SELECT candidates.*, room, fair_by, group_key IS NULL OR group_rate_limit IS NULL OR (
      row_number() OVER (PARTITION BY candidates.queue, group_key ORDER BY place) <= group_rate_limit - (
        SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
        WHERE 
  queue_starts.tenant = open.tenant AND queue_starts.queue = open.queue AND queue_starts.group_key = candidates.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => open.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => open.group_rate_period_seconds))) AS may_start
    FROM candidates JOIN open ON open.queue = candidates.queue
  ), numbered AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY queue ORDER BY place) AS number FROM in_group WHERE may_start
  ), chosen AS MATERIALIZED (
    SELECT * FROM numbered WHERE number <= room ORDER BY place LIMIT $5::int
  ), weighed AS MATERIALIZED (
    SELECT id, sum(bytes) OVER (ORDER BY place) - bytes AS before FROM (SELECT id, place, bytes FROM chosen) AS free
  ), 
  leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $3::float8)
    WHERE id = ANY(ARRAY(SELECT id FROM weighed WHERE before < 4194304)) AND status = 'queued' AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL
    RETURNING id, queue, type, priority, attempts, max_attempts, payload, timeout_seconds, backoff, last_error, group_key, flow_id, date_part('epoch', statement_timestamp() - run_at) AS waited_seconds, traceparent, tracestate, run_at > created_at AS delayed, CASE WHEN group_key IS NOT NULL THEN (
      SELECT true FROM atlasqueue.jobs AS behind
      WHERE behind.tenant = jobs.tenant AND behind.queue = jobs.queue AND behind.group_key = jobs.group_key AND behind.group_seq > 0
      ORDER BY behind.group_seq LIMIT 1
    ) IS NOT NULL END AS followed
  ), batch AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
    SELECT $4, $1::text::uuid, $2, statement_timestamp() + make_interval(secs => $3::float8), array_agg(id) FROM leased HAVING count(*) > 0
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, queued, running)
    SELECT tenant, queue, -count(*), count(*) FROM (SELECT $4 AS tenant, queue FROM leased) AS leased GROUP BY tenant, queue
  ), 
  of_queues AS MATERIALIZED (
    SELECT leased.queue, greatest(statement_timestamp(), to_timestamp(
      ceil(extract(epoch FROM statement_timestamp()) * 100 / rate_period_seconds) * rate_period_seconds / 100)) AS ends_at, count(*)::int AS count
    FROM leased JOIN open ON open.queue = leased.queue
    WHERE rate_limit IS NOT NULL GROUP BY leased.queue, rate_period_seconds
  ), of_groups AS MATERIALIZED (
    SELECT leased.queue, leased.group_key, greatest(statement_timestamp(), to_timestamp(
      ceil(extract(epoch FROM statement_timestamp()) * 100 / group_rate_period_seconds) * group_rate_period_seconds / 100)) AS ends_at, count(*)::int AS count,
           statement_timestamp() - make_interval(secs => group_rate_period_seconds) AS since
    FROM leased JOIN open ON open.queue = leased.queue
    WHERE group_rate_limit IS NOT NULL AND leased.group_key IS NOT NULL
    GROUP BY leased.queue, leased.group_key, group_rate_period_seconds
  ), more_of_queues AS (
    UPDATE atlasqueue.queue_starts SET count = queue_starts.count + of_queues.count FROM of_queues
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = of_queues.queue AND queue_starts.group_key IS NULL
      AND queue_starts.started_at = of_queues.ends_at
    RETURNING queue_starts.queue
  ), more_of_groups AS (
    UPDATE atlasqueue.queue_starts SET count = queue_starts.count + of_groups.count FROM of_groups
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = of_groups.queue AND queue_starts.group_key = of_groups.group_key
      AND queue_starts.started_at = of_groups.ends_at
    RETURNING queue_starts.queue, queue_starts.group_key
  ), started AS (
    INSERT INTO atlasqueue.queue_starts (tenant, queue, group_key, started_at, count)
    SELECT $4, queue, NULL, ends_at, count FROM of_queues WHERE queue NOT IN (SELECT queue FROM more_of_queues)
    UNION ALL
    SELECT $4, queue, group_key, ends_at, count FROM of_groups
    WHERE (queue, group_key) NOT IN (SELECT queue, group_key FROM more_of_groups)
  ), passed_of_queues AS (
    DELETE FROM atlasqueue.queue_starts USING open
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = open.queue AND queue_starts.group_key IS NULL
      AND queue_starts.started_at <= statement_timestamp() - make_interval(secs => coalesce(rate_period_seconds, 0))
  ), passed_of_groups AS (
    DELETE FROM atlasqueue.queue_starts USING of_groups
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = of_groups.queue AND queue_starts.group_key = of_groups.group_key
      AND queue_starts.started_at <= of_groups.since
  )
  SELECT * FROM leased;
