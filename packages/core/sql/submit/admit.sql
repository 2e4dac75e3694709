-- $1 steps
WITH 
  asked AS MATERIALIZED (
    SELECT job.*, greatest(now(), run_at) AS starts_at, step.*
    FROM ROWS FROM (json_to_recordset($1::text::json) AS (
        id uuid, key text, hash text, ttl float8, role text, names uuid, unique_key text, seen uuid, version text,
        window_seconds float8, writes boolean, reason text)) WITH ORDINALITY AS step(step_of, key, hash, ttl, role, names, unique_key, seen, version, window_seconds, writes, reason, place)
    CROSS JOIN LATERAL (
      SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, group_key, backoff, payload, traceparent, tracestate
      FROM atlasqueue.jobs WHERE jobs.id = step_of OFFSET 0) AS job
  ), 
  ours AS MATERIALIZED (
    SELECT * FROM asked WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ), 
  holders AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT seen FROM ours WHERE seen IS NOT NULL))
      AND (id, xmin::text) IN (SELECT seen, version FROM ours WHERE seen IS NOT NULL)
    FOR UPDATE SKIP LOCKED
  ), able AS MATERIALIZED (
    SELECT * FROM ours WHERE seen IS NULL OR seen IN (SELECT id FROM holders)
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at, is_alias)
    SELECT tenant, key, decode(hash, 'hex'), names, now() + make_interval(secs => ttl), CASE WHEN role <> 'make' THEN true END
    FROM able WHERE key IS NOT NULL ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING tenant, key
  ), clear AS MATERIALIZED (
    SELECT * FROM able WHERE key IS NULL OR (tenant, key) IN (SELECT tenant, key FROM new_keys)
  ), makes AS MATERIALIZED (
    SELECT * FROM clear WHERE role = 'make'
  ), 
  members AS MATERIALIZED (SELECT id, tenant, queue, group_key, place FROM makes WHERE group_key IS NOT NULL), joined AS (
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
  ), 
  earlier_jobs AS (
    UPDATE atlasqueue.jobs SET unique_key = NULL, unique_until = NULL WHERE id = ANY(ARRAY(SELECT seen FROM makes WHERE seen IS NOT NULL)) RETURNING id
  ), seats AS MATERIALIZED (
    SELECT id, CASE WHEN key IS NOT NULL THEN now() + make_interval(secs => ttl) END AS kept, unique_key, now() + make_interval(secs => window_seconds) AS unique_until, 
    CASE WHEN NOT may_run THEN 'blocked' WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END AS status,
    CASE WHEN may_run IS FALSE OR starts_at > now() THEN NULL ELSE starts_at END AS ready_at,
    CASE WHEN may_run IS NOT FALSE AND starts_at > now() THEN starts_at END AS due_at,
    group_key, CASE WHEN NOT may_run THEN seq END AS group_seq, CASE WHEN may_run AND is_strict THEN group_key END AS active_group_key
    FROM makes LEFT JOIN seats_taken USING (id)
  ), made AS (
    UPDATE atlasqueue.jobs SET status = seats.status, ready_at = seats.ready_at, due_at = seats.due_at, group_seq = seats.group_seq,
                    active_group_key = seats.active_group_key, kept_until = coalesce(seats.kept, kept_until),
                    unique_key = coalesce(seats.unique_key, jobs.unique_key),
                    unique_until = coalesce(seats.unique_until, jobs.unique_until), updated_at = now()
    FROM seats WHERE (SELECT count(*) FROM earlier_jobs) >= 0 AND jobs.id = seats.id AND jobs.id = ANY(ARRAY(SELECT id FROM seats))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.run_at, jobs.status
  ), ended AS (
    UPDATE atlasqueue.jobs SET status = 'cancelled', group_seq = NULL, finished_at = now(), updated_at = now(), last_error = clear.reason
    FROM clear WHERE clear.role = 'join' AND jobs.id = clear.id AND jobs.id = ANY(ARRAY(SELECT id FROM clear WHERE role = 'join'))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.has_children
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM ended WHERE has_children
    RETURNING key::uuid AS job_id
  ), contents AS MATERIALIZED (
    SELECT * FROM clear WHERE writes
  ), 
  replaced AS (
    UPDATE atlasqueue.jobs SET type = content.type, priority = content.priority, max_attempts = content.max_attempts,
                    timeout_seconds = content.timeout_seconds, backoff = nullif(content.backoff::text, 'null')::json,
                    payload = content.payload, traceparent = content.traceparent, tracestate = content.tracestate,
                    run_at = content.starts_at,
                    status = CASE WHEN jobs.status = 'blocked' THEN 'blocked' WHEN content.starts_at > now() THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN jobs.status <> 'blocked' AND NOT content.starts_at > now() THEN coalesce(ready_at, now()) END,
                    due_at = CASE WHEN jobs.status <> 'blocked' AND content.starts_at > now() THEN content.starts_at END,
                    attempts = 0, started_at = NULL, worker_id = NULL, lease_token = NULL, last_error = NULL, progress = NULL,
                    updated_at = now()
    FROM contents AS content JOIN holders ON holders.id = content.seen
    WHERE jobs.id = holders.id AND jobs.id = ANY(ARRAY(SELECT seen FROM contents))
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
         (CASE WHEN (SELECT count(*) FROM asked) <> (SELECT count(*) FROM clear) THEN 'keys were taken meanwhile, and nothing was stored: ' || now() ELSE '0' END)::int AS refused;
