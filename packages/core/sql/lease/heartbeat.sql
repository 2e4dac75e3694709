-- $1 id
-- $2 tenant
-- $3 lease_token
-- $4 lease_seconds
-- $5 progress
WITH held AS MATERIALIZED (
    SELECT id, locked_until FROM atlasqueue.jobs
    WHERE id = $1::uuid AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
  ), beaten AS (
    UPDATE atlasqueue.jobs SET locked_until = now() + make_interval(secs => $4::float8),
                    progress = coalesce(nullif($5, '')::json, progress)
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND id = $1::uuid AND tenant = $2 AND lease_token = $3::uuid AND status = 'running'
      AND (
      SELECT set_config('synchronous_commit',
        CASE WHEN bool_or(locked_until < now() + make_interval(secs => $4::float8 / 2))
             THEN current_setting('synchronous_commit') ELSE 'off' END, true)
      FROM held) IS NOT NULL
    RETURNING id, locked_until
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = beaten.locked_until FROM beaten
    WHERE token = $3::uuid AND check_at > beaten.locked_until
  )
  SELECT beaten.locked_until FROM atlasqueue.jobs LEFT JOIN beaten ON beaten.id = jobs.id WHERE jobs.id = $1::uuid AND jobs.tenant = $2;
