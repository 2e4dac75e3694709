-- $1 after
-- $2 before
-- $3 jobs_max
-- $4 succeeded_seconds
-- $5 dead_seconds
-- $6 which
WITH old AS MATERIALIZED ((
    SELECT id FROM atlasqueue.jobs WHERE $6::text = 'all'
      AND id > $1::text::uuid AND id < $2::text::uuid ORDER BY id LIMIT $3::int) UNION ALL (
    SELECT id FROM atlasqueue.jobs WHERE $6::text = 'own'
      AND id > $1::text::uuid AND id < $2::text::uuid AND (retention_seconds IS NOT NULL OR result_ttl_seconds IS NOT NULL) ORDER BY id LIMIT $3::int)), free AS MATERIALIZED (
    SELECT id, flow_id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND ((status IN ('succeeded', 'cancelled') AND finished_at < now() - make_interval(secs => coalesce(retention_seconds, $4::float8)))
      OR (status = 'dead' AND finished_at < now() - make_interval(secs => coalesce(retention_seconds, $5::float8))))
      AND (kept_until IS NULL OR kept_until <= now())
      AND (unique_key IS NULL OR coalesce(unique_until, finished_at) <= now() - make_interval(secs => 60))
      AND NOT EXISTS (SELECT FROM atlasqueue.idempotency_keys AS known WHERE known.job_id = jobs.id AND is_alias AND expires_at > now())
    FOR UPDATE SKIP LOCKED
  ), 
  waiting_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM free WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM atlasqueue.jobs WHERE flow_id >= asked.flow_id AND flow_id <= asked.flow_id AND flow_id IS NOT NULL AND (ready_at IS NOT NULL OR due_at IS NOT NULL OR group_seq IS NOT NULL)
      ORDER BY jobs.flow_id LIMIT 1) AS waiting
  ), running_flows AS MATERIALIZED (
    SELECT DISTINCT flow_id FROM atlasqueue.jobs
    WHERE (SELECT true FROM free WHERE flow_id IS NOT NULL LIMIT 1) AND id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims))
      AND status = 'running' AND flow_id IS NOT NULL
  ), ended AS MATERIALIZED (
    SELECT * FROM free WHERE flow_id IS NULL OR (
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
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM gone) AS jobs, (SELECT json_agg(id) FROM gone WHERE status = 'dead') AS dead;
