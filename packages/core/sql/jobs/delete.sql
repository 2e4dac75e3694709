-- $1 tenant
-- $2 ids
WITH free AS MATERIALIZED (
    SELECT id, has_children, xmin AS version FROM jobs WHERE id = ANY($2::uuid[]) AND tenant = $1 AND status IN ('succeeded', 'dead', 'cancelled')
    FOR UPDATE SKIP LOCKED
  ), 
  removable AS MATERIALIZED (
    SELECT id FROM free WHERE has_children IS NULL OR (
      version = (SELECT xmin FROM jobs AS seen WHERE seen.id = free.id)
      AND NOT EXISTS (SELECT FROM flow_edges WHERE parent = free.id AND NOT failed))
  ), gone AS (
    DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM removable))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status, has_steps
  ), attempts AS (
    DELETE FROM job_attempts WHERE job_id = ANY(ARRAY(SELECT id FROM removable))
  ), unadmitted AS (
    DELETE FROM arrivals WHERE job_id = ANY(ARRAY(SELECT id FROM removable))
  ), out_of_flows AS (
    DELETE FROM flow_jobs WHERE job_id = ANY(ARRAY(SELECT id FROM removable))
  ), edges AS (
    DELETE FROM flow_edges WHERE child = ANY(ARRAY(SELECT id FROM removable))
  ), with_steps AS (
    SELECT id FROM gone WHERE has_steps
  ), steps_gone AS (
    DELETE FROM job_steps WHERE job_id = ANY(ARRAY(SELECT id FROM with_steps))
  ), signals_gone AS (
    DELETE FROM job_signals WHERE job_id = ANY(ARRAY(SELECT id FROM with_steps))
  ), waits_gone AS (
    DELETE FROM job_waits WHERE job_id = ANY(ARRAY(SELECT id FROM with_steps))
  ), counted AS (
    INSERT INTO queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM gone GROUP BY tenant, queue
  )
  SELECT (SELECT json_agg(json_build_object('id', id, 'dead', status = 'dead')) FROM gone) AS gone,
         (SELECT json_agg(id) FROM free WHERE id NOT IN (SELECT id FROM removable)) AS awaited;
