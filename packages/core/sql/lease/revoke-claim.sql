-- $1 lease_token
-- $2 refused_seconds
-- $3 tenant
INSERT INTO atlasqueue.claims (tenant, token, worker_id, check_at, job_ids)
  SELECT $3, $1::uuid, '', now() + make_interval(secs => $2::float8), '{}' WHERE (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ON CONFLICT (token, tenant) DO NOTHING;
