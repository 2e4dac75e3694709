-- $1 after
-- $2 before
-- $3 jobs_max
-- $4 succeeded_seconds
-- $5 dead_seconds
WITH turn AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(4715308921) AS ours
  ), old AS MATERIALIZED (
    SELECT id, ctid AS lies_at, ((status IN ('succeeded', 'cancelled') AND finished_at < now() - make_interval(secs => $4::float8))
      OR (status = 'dead' AND finished_at < now() - make_interval(secs => $5::float8)))
      AND (kept_until IS NULL OR kept_until <= now())
      AND (unique_key IS NULL OR coalesce(unique_until, finished_at) <= now() - make_interval(secs => 60)) AS over, flow_id IS NULL AND has_children IS NULL AND has_steps IS NULL AS plain
    FROM atlasqueue.jobs WHERE (SELECT ours FROM turn) AND id > $1::text::uuid AND id < $2::text::uuid
    ORDER BY id LIMIT $3::int
  ), named AS MATERIALIZED (
    SELECT job_id AS id FROM atlasqueue.idempotency_keys WHERE job_id = ANY(ARRAY(SELECT id FROM old)) AND is_alias AND expires_at > now()
    UNION ALL SELECT job_id FROM atlasqueue.flow_jobs WHERE job_id = ANY(ARRAY(SELECT id FROM old))
    UNION ALL SELECT child FROM atlasqueue.flow_edges WHERE child = ANY(ARRAY(SELECT id FROM old))
  ), alone AS MATERIALIZED (
    SELECT id, lies_at FROM old WHERE over AND plain AND id NOT IN (SELECT id FROM named)
  ), free AS MATERIALIZED (
    SELECT id, ctid AS lies_at FROM atlasqueue.jobs WHERE ctid = ANY(ARRAY(SELECT lies_at FROM alone)) AND ((status IN ('succeeded', 'cancelled') AND finished_at < now() - make_interval(secs => $4::float8))
      OR (status = 'dead' AND finished_at < now() - make_interval(secs => $5::float8)))
      AND (kept_until IS NULL OR kept_until <= now())
      AND (unique_key IS NULL OR coalesce(unique_until, finished_at) <= now() - make_interval(secs => 60)) AND flow_id IS NULL AND has_children IS NULL AND has_steps IS NULL AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
    FOR UPDATE SKIP LOCKED
  ), job_attempts_gone AS (
    DELETE FROM atlasqueue.job_attempts WHERE job_id = ANY(ARRAY(SELECT id FROM free))
  ), gone AS (
    DELETE FROM atlasqueue.jobs WHERE ctid = ANY(ARRAY(SELECT lies_at FROM free))
    RETURNING jobs.id, tenant, queue, status, status AS from_status, NULL AS to_status
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM gone GROUP BY tenant, queue
  )
  SELECT (SELECT ours FROM turn) AS ours, (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM gone) AS jobs, (SELECT json_agg(id) FROM gone WHERE status = 'dead') AS dead, EXISTS (SELECT FROM old WHERE over AND id NOT IN (SELECT id FROM alone)) AS others;
