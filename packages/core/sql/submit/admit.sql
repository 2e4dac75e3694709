-- $1 step_of
-- $2 key
-- $3 hash
-- $4 ttl
-- $5 makes
-- $6 names
-- $7 unique_key
-- $8 seen
-- $9 version
-- $10 window_seconds
-- $11 writes
-- $12 reason
WITH asked AS MATERIALIZED (
    SELECT job.*, greatest(now(), run_at) AS starts_at, step.*
    FROM ROWS FROM (unnest($1::uuid[], $2::text[], $3::text[], $4::float8[], $5::boolean[], $6::uuid[], $7::text[], $8::uuid[], $9::text[], $10::float8[], $11::boolean[], $12::text[])) WITH ORDINALITY AS step(step_of, key, hash, ttl, makes, names, unique_key, seen, version, window_seconds, writes, reason, place)
    CROSS JOIN LATERAL (
      SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, group_key, backoff, retention_seconds, result_ttl_seconds, tags, expires_at, payload, traceparent, tracestate
      FROM atlasqueue.jobs WHERE jobs.id = step_of OFFSET 0) AS job
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ), holders AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT seen FROM asked WHERE seen IS NOT NULL))
      AND (id, xmin::text) IN (SELECT seen, version FROM asked WHERE seen IS NOT NULL)
    FOR UPDATE SKIP LOCKED
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at, is_alias)
    SELECT tenant, key, decode(hash, 'hex'), names, now() + make_interval(secs => ttl), CASE WHEN NOT makes THEN true END
    FROM asked WHERE key IS NOT NULL AND (SELECT count(*) FROM holders) >= 0 ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING job_id
  ), makes AS NOT MATERIALIZED (
    SELECT * FROM asked WHERE makes AND (seen IS NULL OR seen IN (SELECT id FROM holders))
  ), 
  members AS MATERIALIZED (SELECT id, tenant, queue, group_key, place FROM makes
    WHERE group_key IS NOT NULL AND (SELECT count(*) FROM new_keys) >= 0), joined AS (
    INSERT INTO atlasqueue.job_groups AS known (tenant, queue, group_key, last_seq, admitted, heads)
    SELECT members.tenant, members.queue, group_key, count(*), least(count(*), least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = members.tenant AND queues.queue = members.queue), 1))),
           (array_agg(id ORDER BY place))[1 : least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = members.tenant AND queues.queue = members.queue), 1))]
    FROM members GROUP BY members.tenant, members.queue, group_key ORDER BY members.tenant COLLATE "C", members.queue COLLATE "C", members.group_key COLLATE "C"
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET
      last_seq = known.last_seq + excluded.last_seq,
      admitted = least(excluded.last_seq, CASE WHEN known.overdue_at IS NULL THEN greatest(0, least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = known.tenant AND queues.queue = known.queue), 1)) - cardinality(known.heads)) ELSE 0 END),
      heads = known.heads || excluded.heads[1 : CASE WHEN known.overdue_at IS NULL THEN greatest(0, least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = known.tenant AND queues.queue = known.queue), 1)) - cardinality(known.heads)) ELSE 0 END]
    RETURNING tenant, queue, group_key, last_seq, admitted
  ), seats_taken AS MATERIALIZED (
    SELECT id, last_seq - count(*) OVER same_group + row_number() OVER (same_group ORDER BY place) AS seq,
           row_number() OVER (same_group ORDER BY place) <= admitted AS may_run, least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = members.tenant AND queues.queue = members.queue), 1)) = 1 AS is_strict
    FROM members JOIN joined USING (tenant, queue, group_key)
    WINDOW same_group AS (PARTITION BY tenant, queue, group_key)
  ), earlier_jobs AS (
    UPDATE atlasqueue.jobs SET unique_key = NULL, unique_until = NULL WHERE id = ANY(ARRAY(SELECT seen FROM makes WHERE seen IS NOT NULL)) RETURNING id
  ), seats AS MATERIALIZED (
    SELECT id, CASE WHEN key IS NOT NULL THEN now() + make_interval(secs => ttl) END AS kept, unique_key, now() + make_interval(secs => window_seconds) AS unique_until,
           CASE WHEN may_run IS FALSE THEN 'blocked' WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END AS status,
           CASE WHEN may_run IS FALSE OR starts_at > now() THEN NULL ELSE starts_at END AS ready_at,
           CASE WHEN NOT (may_run IS FALSE) AND starts_at > now() THEN starts_at END AS due_at, group_key,
           CASE WHEN may_run IS FALSE THEN coalesce(seq, 0) END AS group_seq, CASE WHEN may_run AND is_strict THEN group_key END AS active_group_key
    FROM makes LEFT JOIN seats_taken USING (id)
  ), made AS (
    UPDATE atlasqueue.jobs SET status = seats.status, ready_at = seats.ready_at, due_at = seats.due_at, group_seq = seats.group_seq,
                    active_group_key = seats.active_group_key, kept_until = coalesce(seats.kept, kept_until),
                    unique_key = coalesce(seats.unique_key, jobs.unique_key),
                    unique_until = coalesce(seats.unique_until, jobs.unique_until), updated_at = now()
    FROM seats WHERE (SELECT count(*) FROM earlier_jobs) >= 0 AND (SELECT count(*) FROM new_keys) >= 0 AND jobs.id = seats.id AND jobs.id = ANY(ARRAY(SELECT id FROM seats))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.run_at, jobs.status
  ), ended AS (
    UPDATE atlasqueue.jobs SET status = 'cancelled', group_seq = NULL, expires_at = NULL, finished_at = now(), updated_at = now(), last_error = asked.reason
    FROM asked WHERE reason IS NOT NULL AND jobs.id = asked.id AND jobs.id = ANY(ARRAY(SELECT id FROM asked WHERE reason IS NOT NULL))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.has_children
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM ended WHERE has_children
    RETURNING key::uuid AS job_id
  ), replaced AS (
    UPDATE atlasqueue.jobs SET type = content.type, priority = content.priority, max_attempts = content.max_attempts,
                    timeout_seconds = content.timeout_seconds, backoff = content.backoff, tags = content.tags, expires_at = content.expires_at,
                    retention_seconds = content.retention_seconds, result_ttl_seconds = content.result_ttl_seconds,
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
  ), moved AS (
    
    SELECT tenant, queue, 'blocked' AS from_status, status AS to_status FROM made
    UNION ALL SELECT tenant, queue, 'blocked', 'cancelled' FROM ended
    UNION ALL SELECT tenant, queue, was, status FROM replaced
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM moved GROUP BY tenant, queue
  )
  SELECT now() AS created_at, (SELECT json_agg(json_build_object('id', id, 'status', status, 'run_at', run_at)) FROM made) AS made,
         (SELECT json_agg(json_build_object('id', id, 'was', was, 'status', status, 'run_at', run_at, 'ready_at', ready_at,
                                            'due_at', due_at, 'updated_at', updated_at)) FROM replaced) AS replaced,
         (CASE WHEN (SELECT count(key) FROM asked) <> (SELECT count(*) FROM new_keys)
           OR (SELECT count(DISTINCT seen) FROM asked) <> (SELECT count(*) FROM holders) THEN 'keys were taken meanwhile, and nothing was stored: ' || now() ELSE '0' END)::int AS refused;
