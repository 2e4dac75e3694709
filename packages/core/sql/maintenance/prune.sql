-- $1 after
-- $2 before
-- $3 jobs_max
-- $4 succeeded_seconds
-- $5 dead_seconds
WITH turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(4715308921) AS ours
  ), old AS MATERIALIZED (
    SELECT id FROM jobs WHERE (SELECT ours FROM turn) AND id > $1::text::uuid AND id < $2::text::uuid
    ORDER BY id LIMIT $3::int
  ), free AS MATERIALIZED (
    SELECT id, flow_id, has_children, xmin AS version FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND (
      (status IN ('succeeded', 'cancelled') AND finished_at < now() - make_interval(secs => $4::float8))
      OR (status = 'dead' AND finished_at < now() - make_interval(secs => $5::float8)))
      AND (kept_until IS NULL OR kept_until <= now())
      AND NOT EXISTS (SELECT FROM idempotency_keys AS known WHERE known.job_id = jobs.id AND noted AND expires_at > now())
      AND NOT EXISTS (
        SELECT FROM unique_keys AS known WHERE known.job_id = jobs.id
          AND coalesce(window_ends_at, jobs.finished_at) > now() - make_interval(secs => 60))
      AND NOT EXISTS (SELECT FROM arrivals WHERE arrivals.job_id = jobs.id)
    FOR UPDATE SKIP LOCKED
  ), 
  open_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM free WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM flow_jobs AS member CROSS JOIN LATERAL (
        SELECT status FROM jobs WHERE jobs.id = member.job_id OFFSET 0) AS job
      WHERE member.flow_id = asked.flow_id AND status NOT IN ('succeeded', 'dead', 'cancelled') LIMIT 1) AS open
  ), ended AS MATERIALIZED (
    SELECT * FROM free WHERE flow_id IS NULL OR flow_id NOT IN (SELECT flow_id FROM open_flows)
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
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM gone) AS jobs, (SELECT json_agg(id) FROM gone WHERE status = 'dead') AS dead;
