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
WITH 
  page AS MATERIALIZED (
    (SELECT id, dead_at FROM (
      SELECT id, dead_at, tenant = $1 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR error_fingerprint = $5) AND ($10 = '' OR tags @> ARRAY[$10]) AS found FROM atlasqueue.jobs WHERE cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $6::float8 * interval '1 microsecond'), $7::text::uuid) AND dead_at <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') ORDER BY dead_at, id LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT 500)
    UNION ALL
    (SELECT id, dead_at FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1 AND CASE WHEN $9::text::bool THEN status IN ('dead', 'cancelled', 'failed') AND coalesce((SELECT dead_at), 'epoch') <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond')
                       ELSE (SELECT dead_at) <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') END ORDER BY dead_at, id LIMIT 500)),  taken AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, status, dead_at, flow_id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM page)) AND tenant = $1 AND CASE WHEN $9::text::bool THEN status IN ('dead', 'cancelled', 'failed') AND coalesce((SELECT dead_at), 'epoch') <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond')
                       ELSE (SELECT dead_at) <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') END AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND true
    FOR UPDATE SKIP LOCKED
  ), 
  waiting_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM taken WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM atlasqueue.jobs WHERE flow_id >= asked.flow_id AND flow_id <= asked.flow_id AND flow_id IS NOT NULL AND (ready_at IS NOT NULL OR due_at IS NOT NULL OR group_seq IS NOT NULL)
      ORDER BY jobs.flow_id LIMIT 1) AS waiting
  ), running_flows AS MATERIALIZED (
    SELECT DISTINCT flow_id FROM atlasqueue.jobs
    WHERE (SELECT true FROM taken WHERE flow_id IS NOT NULL LIMIT 1) AND id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims))
      AND status = 'running' AND flow_id IS NOT NULL
  ), ended AS MATERIALIZED (
    SELECT * FROM taken WHERE flow_id IS NULL OR (
      flow_id NOT IN (SELECT flow_id FROM waiting_flows) AND flow_id NOT IN (SELECT flow_id FROM running_flows))
  ), 
  unawaited AS MATERIALIZED (
    SELECT id, has_steps FROM ended WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (has_children IS NULL OR (
      version = (SELECT xmin FROM atlasqueue.jobs AS seen WHERE seen.id = ended.id)
      AND NOT EXISTS (SELECT FROM atlasqueue.flow_edges WHERE parent = ended.id AND NOT failed)))
  ), with_steps AS MATERIALIZED (
    SELECT id FROM unawaited WHERE has_steps
  ), job_attempts_gone AS (
    DELETE FROM atlasqueue.job_attempts WHERE job_id = ANY(ARRAY(SELECT id FROM unawaited))
  ), flow_jobs_gone AS (
    DELETE FROM atlasqueue.flow_jobs WHERE job_id = ANY(ARRAY(SELECT id FROM unawaited))
  ), flow_edges_gone AS (
    DELETE FROM atlasqueue.flow_edges WHERE child = ANY(ARRAY(SELECT id FROM unawaited))
  ), job_state_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM with_steps))
  ), gone AS (
    DELETE FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM unawaited))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM gone GROUP BY tenant, queue
  )
  SELECT (SELECT count(*)::int FROM page) AS found,
    CASE WHEN cardinality($2::uuid[]) > 0 THEN NULL
      WHEN (SELECT count(*) FROM page) = 500
      THEN (SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM page ORDER BY dead_at DESC, id DESC LIMIT 1)
      ELSE (
      SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM (SELECT dead_at, id FROM atlasqueue.jobs WHERE cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $6::float8 * interval '1 microsecond'), $7::text::uuid) AND dead_at <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') ORDER BY dead_at, id OFFSET 19999 LIMIT 1) AS last) END AS reached, (SELECT json_agg(id) FROM gone) AS ids;
