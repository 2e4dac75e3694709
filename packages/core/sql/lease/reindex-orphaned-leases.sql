-- $1 after
-- $2 jobs_max
WITH page AS MATERIALIZED (
    SELECT id, tenant, status, lease_token, worker_id, locked_until FROM atlasqueue.jobs WHERE id > $1::text::uuid AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL ORDER BY id LIMIT $2::int
  ), strays AS MATERIALIZED (
    SELECT tenant, lease_token AS token, coalesce(min(worker_id), '') AS worker_id, coalesce(min(locked_until), now()) AS check_at,
           array_agg(id) AS job_ids
    FROM page
    WHERE status = 'running' AND lease_token IS NOT NULL AND (
      SELECT page.id = ANY(job_ids) FROM atlasqueue.claims WHERE token = page.lease_token AND claims.tenant = page.tenant) IS NOT TRUE
    GROUP BY tenant, lease_token
  ), adopted AS (
    INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids) SELECT tenant, token, worker_id, check_at, job_ids FROM strays
    ON CONFLICT (token, tenant) DO UPDATE SET job_ids = claims.job_ids || excluded.job_ids,
                                      check_at = least(claims.check_at, excluded.check_at)
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT max(id::text) FROM page) AS last,
         (SELECT coalesce(sum(cardinality(job_ids)), 0)::int FROM strays) AS adopted;
