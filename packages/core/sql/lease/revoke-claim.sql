-- $1 lease_token
-- $2 tenant
WITH held AS MATERIALIZED (
    SELECT id, tenant, queue, type, priority, attempts, worker_id FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims WHERE token = $1::uuid AND tenant = $2)) AND tenant = $2 AND jobs.lease_token = $1::uuid AND jobs.status = 'running'
  ), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM held)) FOR NO KEY UPDATE SKIP LOCKED
  ), given AS (
    UPDATE atlasqueue.jobs SET status = 'queued', ready_at = run_at, attempts = attempts - 1, lease_token = NULL, locked_until = NULL, worker_id = NULL, updated_at = now() WHERE jobs.id = ANY(ARRAY(SELECT id FROM free)) AND jobs.lease_token = $1::uuid AND jobs.status = 'running'
    RETURNING jobs.id, tenant, queue
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running, queued)
    SELECT tenant, queue, -count(*), count(*) FROM given GROUP BY tenant, queue
  )
  SELECT held.*, CASE WHEN given.id IS NULL THEN 'locked' ELSE 'given' END AS state
  FROM held LEFT JOIN given ON given.id = held.id
  UNION ALL
  SELECT id, tenant, queue, type, priority, attempts, '', 'waiting' FROM atlasqueue.jobs
  WHERE id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims WHERE token = $1::uuid AND tenant = $2)) AND tenant = $2 AND status = 'queued';
