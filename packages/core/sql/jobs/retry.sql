-- $1 id
-- $2 tenant
WITH found AS MATERIALIZED (
    SELECT * FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2 AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL FOR UPDATE
  ), stopped AS MATERIALIZED (
    SELECT * FROM found WHERE status IN ('dead', 'cancelled', 'failed')
  ), 
  waiting AS MATERIALIZED (
    SELECT id, tenant, true AS waits FROM stopped WHERE flow_id IS NOT NULL AND (SELECT true FROM atlasqueue.flow_edges WHERE flow_edges.child = id LIMIT 1) IS NOT NULL
  ), done_without AS (
    DELETE FROM atlasqueue.flow_edges
    WHERE child = ANY(ARRAY(SELECT id FROM waiting)) AND failed AND coalesce((SELECT status FROM atlasqueue.jobs AS parent WHERE parent.id = flow_edges.parent), 'dead') IN ('dead', 'cancelled')
  ), forgotten AS (
    UPDATE atlasqueue.flow_jobs SET cancelled_by = NULL
    WHERE job_id = ANY(ARRAY(SELECT id FROM stopped WHERE flow_id IS NOT NULL)) AND cancelled_by IS NOT NULL
  ), waits_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM stopped WHERE has_steps)) AND kind = 'wait'
  ), noted_children AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'recheck_child', tenant, id::text FROM waiting
  ), revived AS (
    SELECT id, tenant, has_children FROM stopped WHERE status <> 'failed'
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM revived WHERE has_children
    RETURNING key::uuid AS job_id
  ), 
  candidates AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, row_number() OVER (ORDER BY dead_at, id) AS place
    FROM stopped WHERE group_key IS NOT NULL AND status <> 'failed' AND id NOT IN (SELECT id FROM waiting)), postponed AS MATERIALIZED (
    SELECT * FROM candidates WHERE (
      SELECT true FROM atlasqueue.outbox WHERE outbox.tenant = candidates.tenant AND lane = 'group ' || candidates.queue || E'\n' || candidates.group_key LIMIT 1)
  ), admissions AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    SELECT 'admit', tenant, id::text, 'group ' || postponed.queue || E'\n' || postponed.group_key, '{"counted": true}' FROM postponed ORDER BY place
  ), 
  members AS MATERIALIZED (SELECT * FROM candidates WHERE id NOT IN (SELECT id FROM postponed)), joined AS (
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
  ), seated AS MATERIALIZED (
    SELECT id, seq, may_run, is_strict FROM seats_taken UNION ALL SELECT id, 0, false, false FROM postponed
  ), queued AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN waits OR NOT may_run THEN 'blocked' ELSE 'queued' END,
                    ready_at = CASE WHEN waits IS NULL AND may_run IS NOT FALSE THEN now() END,
                    group_seq = CASE WHEN waits THEN 0 WHEN NOT may_run THEN seq END,
                    active_group_key = CASE WHEN may_run AND is_strict THEN jobs.group_key ELSE jobs.active_group_key END,
                    run_at = now(), updated_at = now(), attempts = 0, expires_at = NULL, due_at = NULL, dead_at = NULL, started_at = NULL,
                    finished_at = NULL, worker_id = NULL, locked_until = NULL, lease_token = NULL, dead_reason = NULL,
                    last_error = NULL, error_fingerprint = NULL, progress = NULL, result = NULL
    FROM stopped AS stopped LEFT JOIN seated USING (id) LEFT JOIN (SELECT id, waits FROM waiting) AS waiting USING (id)
    WHERE jobs.id = stopped.id
    RETURNING jobs.*, stopped.status AS was
  ), moved AS (
    SELECT tenant, queue, was AS from_status, status AS to_status FROM queued
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM moved GROUP BY tenant, queue
  )
  SELECT * FROM queued
  UNION ALL
  SELECT found.*, found.status AS was FROM found WHERE id NOT IN (SELECT id FROM stopped);
