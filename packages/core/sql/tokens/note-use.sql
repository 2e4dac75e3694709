-- $1 ids
-- $2 ms_ago
WITH used AS (
    SELECT tokens.id, now() - make_interval(secs => used.ms_ago / 1000) AS at
    FROM unnest($1::uuid[], $2::float8[]) AS used(id, ms_ago) JOIN atlasqueue.tokens ON tokens.id = used.id
    FOR NO KEY UPDATE OF tokens SKIP LOCKED
  )
  UPDATE atlasqueue.tokens SET last_used_at = greatest(last_used_at, used.at)
  FROM used WHERE tokens.id = used.id AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off';
