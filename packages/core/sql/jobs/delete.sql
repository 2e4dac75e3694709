-- $1 tenant
-- $2 ids
WITH free AS MATERIALIZED (
    SELECT id, has_children, has_steps, xmin AS version FROM atlasqueue.jobs WHERE id = ANY($2::uuid[]) AND tenant = $1 AND status IN ('succeeded', 'dead', 'cancelled') FOR UPDATE SKIP LOCKED
  ), 
  unawaited AS MATERIALIZED (
    SELECT id, has_steps FROM free WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (has_children IS NULL OR (
      version = (SELECT xmin FROM atlasqueue.jobs AS seen WHERE seen.id = free.id)
      AND NOT EXISTS (SELECT FROM atlasqueue.flow_edges WHERE parent = free.id AND NOT failed)))
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
  SELECT (SELECT json_agg(json_build_object('id', id, 'dead', status = 'dead')) FROM gone) AS gone,
         (SELECT json_agg(id) FROM free WHERE id NOT IN (SELECT id FROM unawaited)) AS awaited,
         (SELECT json_agg(id) FROM atlasqueue.jobs WHERE id = ANY($2::uuid[]) AND tenant = $1 AND status IN ('succeeded', 'dead', 'cancelled') AND id NOT IN (SELECT id FROM free)) AS locked;
