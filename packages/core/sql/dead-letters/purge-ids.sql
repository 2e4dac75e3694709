-- $1 tenant
-- $2 ids
-- $3 until_us
WITH 
  page AS MATERIALIZED (
    SELECT id, dead_at FROM (
      SELECT id, dead_at, tenant = $1 AND dead_at <= ('epoch'::timestamptz + $3::float8 * interval '1 microsecond') AS found FROM jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) ORDER BY dead_at, id LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT 500),  taken AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, status, dead_at, flow_id, has_children, xmin AS version FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM page)) AND tenant = $1 AND dead_at <= ('epoch'::timestamptz + $3::float8 * interval '1 microsecond') AND true
    FOR UPDATE SKIP LOCKED
  ), 
  open_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM taken WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM flow_jobs AS member CROSS JOIN LATERAL (
        SELECT status FROM jobs WHERE jobs.id = member.job_id OFFSET 0) AS job
      WHERE member.flow_id = asked.flow_id AND status NOT IN ('succeeded', 'dead', 'cancelled') LIMIT 1) AS open
  ), ended AS MATERIALIZED (
    SELECT * FROM taken WHERE flow_id IS NULL OR flow_id NOT IN (SELECT flow_id FROM open_flows)
  ), 
  removable AS MATERIALIZED (
    SELECT id FROM ended WHERE has_children IS NULL OR (
      version = (SELECT xmin FROM jobs AS seen WHERE seen.id = ended.id)
      AND NOT EXISTS (SELECT FROM flow_edges WHERE parent = ended.id AND NOT failed))
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
  SELECT (SELECT count(*)::int FROM page) AS found, NULL AS reached, (SELECT json_agg(id) FROM gone) AS ids;
