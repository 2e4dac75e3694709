-- $1 lease_token
-- $2 worker_id
-- $3 lease_seconds
-- $4 tenant
-- $5 whole
-- $6 types
-- $7 jobs_max
WITH open AS MATERIALIZED (
    SELECT queues.*, has.room::int AS room FROM json_each_text(nullif(current_setting('atlasqueue.room', true), '')::json) AS has(name, room)
    JOIN atlasqueue.queues ON queues.tenant = $4 AND queues.queue = has.name
  ), candidates AS MATERIALIZED (
    SELECT ready.*, row_number() OVER (ORDER BY priority DESC, number, ready_at, id) AS place FROM (
      SELECT first.* FROM (SELECT * FROM open WHERE fair_by IS NULL) AS served, LATERAL (SELECT *, row_number() OVER () AS number FROM (
      SELECT * FROM (
      SELECT ordered.* FROM (
        SELECT jobs.id, jobs.queue, jobs.group_key, jobs.priority, jobs.ready_at FROM atlasqueue.jobs
        WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL AND (expires_at IS NULL OR attempts > 0 OR expires_at > statement_timestamp()) AND ($6::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($6::text, '')::text[]))))
        ORDER BY priority DESC, ready_at, id LIMIT 5000) AS ordered, LATERAL (
        SELECT FROM atlasqueue.jobs
        WHERE jobs.id = ordered.id AND status = 'queued' FOR NO KEY UPDATE SKIP LOCKED) AS free
      WHERE (
    ordered.group_key IS NULL OR served.group_rate_limit IS NULL OR served.group_rate_limit > (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE 
  queue_starts.tenant = served.tenant AND queue_starts.queue = served.queue AND queue_starts.group_key = ordered.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => served.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => served.group_rate_period_seconds)))) AS free ORDER BY priority DESC, ready_at, id LIMIT least($7::int, CASE WHEN served.group_rate_limit IS NULL THEN served.room END)) AS one) AS first
      UNION ALL
      SELECT first.* FROM (SELECT * FROM open WHERE fair_by IS NOT NULL) AS served, LATERAL (SELECT *, row_number() OVER () AS number FROM (
      WITH front AS MATERIALIZED (
        SELECT jobs.id, jobs.queue, jobs.group_key, jobs.priority, jobs.ready_at FROM atlasqueue.jobs
        WHERE tenant = $4 AND jobs.queue = served.queue AND ready_at IS NOT NULL AND (expires_at IS NULL OR attempts > 0 OR expires_at > statement_timestamp()) AND ($6::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($6::text, '')::text[]))))
        ORDER BY priority DESC, ready_at, id LIMIT 1000
      ), seen AS (
        SELECT * FROM front
        UNION
        (SELECT head.* FROM (
           SELECT * FROM atlasqueue.job_groups
           WHERE tenant = $4 AND job_groups.queue = served.queue AND (SELECT count(*) FROM front) = 1000
           ORDER BY last_started_at) AS one, LATERAL (
           SELECT jobs.id, jobs.queue, jobs.group_key, jobs.priority, jobs.ready_at FROM atlasqueue.jobs
           WHERE jobs.id = ANY(one.heads || ARRAY(
      SELECT held.id FROM atlasqueue.jobs AS held
      WHERE held.tenant = one.tenant AND held.queue = one.queue AND held.active_group_key = one.group_key)) AND (SELECT jobs.ready_at) IS NOT NULL AND ($6::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($6::text, '')::text[]))))
           ORDER BY jobs.priority DESC, jobs.ready_at, jobs.id LIMIT 1) AS head
         LIMIT $7::int)
      )
      SELECT ordered.* FROM (
        SELECT seen.* FROM seen LEFT JOIN atlasqueue.job_groups AS own
          ON own.tenant = $4 AND own.queue = seen.queue AND own.group_key = seen.group_key
        ORDER BY priority DESC, row_number() OVER (PARTITION BY priority, seen.group_key ORDER BY ready_at, id),
                 CASE WHEN seen.group_key IS NULL THEN served.ungrouped_started_at ELSE last_started_at END NULLS FIRST, ready_at, id) AS ordered, LATERAL (
        SELECT FROM atlasqueue.jobs
        WHERE jobs.id = ordered.id AND status = 'queued' FOR NO KEY UPDATE SKIP LOCKED) AS free
      WHERE (
    ordered.group_key IS NULL OR served.group_rate_limit IS NULL OR served.group_rate_limit > (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE 
  queue_starts.tenant = served.tenant AND queue_starts.queue = served.queue AND queue_starts.group_key = ordered.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => served.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => served.group_rate_period_seconds)))
      LIMIT least($7::int, CASE WHEN served.group_rate_limit IS NULL THEN served.room END)) AS one) AS first) AS ready
  ), in_group AS (
    SELECT candidates.*, room, group_key IS NULL OR group_rate_limit IS NULL OR (
      row_number() OVER (PARTITION BY candidates.queue, group_key ORDER BY place) <= group_rate_limit - (
        SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
        WHERE 
  queue_starts.tenant = open.tenant AND queue_starts.queue = open.queue AND queue_starts.group_key = candidates.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => open.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => open.group_rate_period_seconds))) AS may_start
    FROM candidates JOIN open ON open.queue = candidates.queue
  ), numbered AS MATERIALIZED (
    SELECT id, place, room, row_number() OVER (PARTITION BY queue ORDER BY place) AS nth FROM in_group WHERE may_start
  ), chosen AS MATERIALIZED (
    SELECT id FROM numbered WHERE nth <= room ORDER BY place LIMIT $7::int
  ), 
  leased AS (
    UPDATE atlasqueue.jobs SET status = 'running', ready_at = NULL, attempts = attempts + 1, lease_token = $1::text::uuid,
                    worker_id = $2, started_at = statement_timestamp(), updated_at = statement_timestamp(),
                    locked_until = statement_timestamp() + make_interval(secs => $3::float8)
    WHERE id = ANY(ARRAY(SELECT id FROM chosen)) AND status = 'queued' AND (expires_at IS NULL OR attempts > 0 OR expires_at > statement_timestamp()) AND ($6::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($6::text, '')::text[])))) AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL
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
  ), 
  turned AS (
    SELECT DISTINCT queue, group_key FROM leased JOIN open USING (queue) WHERE fair_by IS NOT NULL
  ), turn_of_groups AS (
    UPDATE atlasqueue.job_groups SET last_started_at = statement_timestamp() WHERE ctid = ANY(ARRAY(
      SELECT own.ctid FROM turned JOIN atlasqueue.job_groups AS own
        ON own.tenant = $4 AND own.queue = turned.queue AND own.group_key = turned.group_key
      FOR NO KEY UPDATE OF own SKIP LOCKED))
  ), turn_of_ungrouped AS (
    UPDATE atlasqueue.queues SET ungrouped_started_at = statement_timestamp()
    FROM turned WHERE queues.tenant = $4 AND queues.queue = turned.queue AND turned.group_key IS NULL
  )
  SELECT * FROM leased;
