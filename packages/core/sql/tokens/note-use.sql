-- $1 tenants
-- $2 ids
-- $3 ms_ago
WITH used AS (
    SELECT tokens.tenant, tokens.id, now() - make_interval(secs => used.ms_ago / 1000) AS at
    FROM unnest($1::text[], $2::uuid[], $3::float8[]) AS used(tenant, id, ms_ago) JOIN atlasqueue.tokens USING (tenant, id)
    FOR NO KEY UPDATE OF tokens SKIP LOCKED
  )
  UPDATE atlasqueue.tokens SET last_used_at = greatest(last_used_at, used.at)
  FROM used WHERE tokens.tenant = used.tenant AND tokens.id = used.id AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off';
