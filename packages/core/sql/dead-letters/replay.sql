-- $1 tenant
-- $2 ids
-- $3 queue
-- $4 type
-- $5 fingerprint
-- $6 after_us
-- $7 after_id
-- $8 until_us
-- $9 stopped
-- $10 tag
-- $11 rows_max
WITH 
  page AS MATERIALIZED (
    (SELECT id, dead_at FROM (
      SELECT id, dead_at, tenant = $1 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR error_fingerprint = $5) AND ($10 = '' OR tags @> ARRAY[$10]) AS found FROM atlasqueue.jobs WHERE cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $6::float8 * interval '1 microsecond'), $7::text::uuid) AND dead_at <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') ORDER BY dead_at, id LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT $11::int)
    UNION ALL
    (SELECT id, dead_at FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1 AND CASE WHEN $9::text::bool THEN status IN ('dead', 'cancelled', 'failed') AND coalesce((SELECT dead_at), 'epoch') <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond')
                       ELSE (SELECT dead_at) <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') END ORDER BY dead_at, id LIMIT $11::int)), named AS MATERIALIZED (
    SELECT named.*, (SELECT true 
      FROM atlasqueue.job_groups AS known
      WHERE known.tenant = named.tenant AND known.queue = named.queue AND known.group_key = named.group_key) IS NOT NULL AS is_known FROM (
      SELECT DISTINCT tenant, queue, group_key FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND group_key IS NOT NULL) AS named
  ), free_groups AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM named WHERE NOT is_known
    UNION ALL SELECT free.* FROM named CROSS JOIN LATERAL (
      SELECT tenant, queue, group_key 
      FROM atlasqueue.job_groups AS known
      WHERE known.tenant = named.tenant AND known.queue = named.queue AND known.group_key = named.group_key FOR UPDATE SKIP LOCKED) AS free
  ), taken AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, status, dead_at, flow_id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM page)) AND tenant = $1 AND CASE WHEN $9::text::bool THEN status IN ('dead', 'cancelled', 'failed') AND coalesce((SELECT dead_at), 'epoch') <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond')
                       ELSE (SELECT dead_at) <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') END AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (group_key IS NULL OR (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM free_groups))
    FOR UPDATE SKIP LOCKED
  ), 
  waiting AS MATERIALIZED (
    SELECT id, tenant, true AS waits FROM taken WHERE flow_id IS NOT NULL AND (SELECT true FROM atlasqueue.flow_edges WHERE flow_edges.child = id LIMIT 1) IS NOT NULL
  ), done_without AS (
    DELETE FROM atlasqueue.flow_edges
    WHERE child = ANY(ARRAY(SELECT id FROM waiting)) AND failed AND NOT $9::text::bool AND coalesce((SELECT status FROM atlasqueue.jobs AS parent WHERE parent.id = flow_edges.parent), 'dead') IN ('dead', 'cancelled')
  ), forgotten AS (
    UPDATE atlasqueue.flow_jobs SET cancelled_by = NULL
    WHERE job_id = ANY(ARRAY(SELECT id FROM taken WHERE flow_id IS NOT NULL)) AND cancelled_by IS NOT NULL
  ), waits_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM taken WHERE has_steps)) AND kind = 'wait'
  ), noted_children AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'recheck_child', tenant, id::text FROM waiting
  ), revived AS (
    SELECT id, tenant, has_children FROM taken WHERE status <> 'failed'
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM revived WHERE has_children
    RETURNING key::uuid AS job_id
  ), 
  candidates AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, row_number() OVER (ORDER BY dead_at, id) AS place
    FROM taken WHERE group_key IS NOT NULL AND status <> 'failed' AND id NOT IN (SELECT id FROM waiting)), postponed AS MATERIALIZED (
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
    FROM taken AS stopped LEFT JOIN seated USING (id) LEFT JOIN (SELECT id, waits FROM waiting) AS waiting USING (id)
    WHERE jobs.id = stopped.id
    RETURNING jobs.id, jobs.type, jobs.tenant, jobs.queue, jobs.priority, jobs.status, stopped.status AS was
  ), moved AS (
    SELECT tenant, queue, was AS from_status, status AS to_status FROM queued
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM moved GROUP BY tenant, queue
  )
  SELECT (SELECT count(*)::int FROM page) AS found,
    CASE WHEN cardinality($2::uuid[]) > 0 THEN NULL
      WHEN (SELECT count(*) FROM page) = $11::int
      THEN (SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM page ORDER BY dead_at DESC, id DESC LIMIT 1)
      ELSE (
      SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM (SELECT dead_at, id FROM atlasqueue.jobs WHERE cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $6::float8 * interval '1 microsecond'), $7::text::uuid) AND dead_at <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') ORDER BY dead_at, id OFFSET 19999 LIMIT 1) AS last) END AS reached, (
    SELECT json_agg(json_build_object('id', id, 'type', type, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status, 'was', was)
                    ORDER BY id) FROM queued) AS jobs;
