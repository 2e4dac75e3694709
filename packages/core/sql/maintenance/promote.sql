-- $1 jobs_max
-- $2 tenants
-- $3 queues
-- $4 shares
WITH due AS MATERIALIZED (
    SELECT * FROM (SELECT id, status FROM atlasqueue.jobs WHERE due_at <= now() ORDER BY due_at LIMIT $1::int FOR UPDATE SKIP LOCKED) AS oldest
    UNION
    SELECT one.id, one.status
    FROM unnest($2::text[], $3::text[], $4::int[]) AS share(tenant, queue, jobs_max) CROSS JOIN LATERAL (
      SELECT id, status FROM atlasqueue.jobs
      WHERE due_at IS NOT NULL AND (jobs.tenant, jobs.queue, due_at) >= (share.tenant, share.queue, '-infinity')
        AND (jobs.tenant, jobs.queue, due_at) <= (share.tenant, share.queue, now())
      ORDER BY jobs.tenant, jobs.queue, due_at LIMIT share.jobs_max FOR UPDATE SKIP LOCKED) AS one
  ), promoted AS (
    UPDATE atlasqueue.jobs SET status = 'queued', ready_at = run_at, due_at = NULL, waits_for = NULL, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM due)) AND (SELECT due_at) <= now()
    RETURNING id, tenant, queue, priority, attempts, run_at
  ), moved AS (
    SELECT tenant, queue, due.status AS from_status, 'queued' AS to_status FROM promoted JOIN due USING (id)
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM moved GROUP BY tenant, queue
  )
  SELECT * FROM promoted;
