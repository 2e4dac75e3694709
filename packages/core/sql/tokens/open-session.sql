-- $1 tenant
-- $2 token_id
-- $3 hash
-- $4 replaces
WITH gone AS (
    DELETE FROM atlasqueue.sessions WHERE hash = ANY(ARRAY(
      SELECT hash FROM atlasqueue.sessions WHERE expires_at <= now() OR hash IN (
        SELECT hash FROM atlasqueue.sessions WHERE tenant = $1 AND token_id = $2::text::uuid ORDER BY created_at DESC OFFSET 99)
      FOR UPDATE SKIP LOCKED))
  ), made AS (
    INSERT INTO atlasqueue.sessions (hash, tenant, token_id, expires_at)
    SELECT decode($3, 'hex'), tenant, id, least(expires_at, now() + interval '43200 seconds')
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND tokens.rotated_to IS NULL AND (tokens.expires_at IS NULL OR tokens.expires_at > now())
    RETURNING expires_at
  ), ended AS (
    DELETE FROM atlasqueue.sessions WHERE hash = ANY(ARRAY(
      SELECT hash FROM atlasqueue.sessions WHERE hash = decode($4, 'hex') AND EXISTS (SELECT FROM made) FOR UPDATE SKIP LOCKED))
    RETURNING tenant, token_id
  )
  SELECT name, hint, made.expires_at AS until,
         (extract(epoch FROM made.expires_at - now()) * 1000)::float8 AS expires_in_ms,
         (SELECT to_json(ended) FROM ended) AS ended
  FROM made CROSS JOIN atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid;
