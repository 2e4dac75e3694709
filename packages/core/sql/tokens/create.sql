-- $1 tenant
-- $2 id
-- $3 name
-- $4 hash
-- $5 hint
-- $6 scopes
-- $7 expires_in_seconds
-- $8 made_by
WITH gone AS (
    DELETE FROM atlasqueue.tokens WHERE tenant = $1 AND id = ANY(ARRAY(
      SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND NOT (tokens.expires_at IS NULL OR tokens.expires_at > now()) FOR UPDATE SKIP LOCKED))
    RETURNING id
  ), ended_sessions AS (
    DELETE FROM atlasqueue.sessions WHERE tenant = $1 AND token_id IN (SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND rotated_to IN (SELECT id FROM gone))
  ), maker AS (SELECT id, expires_at FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($8::text, '')::uuid AND (tokens.expires_at IS NULL OR tokens.expires_at > now()))
  INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
  SELECT $1, $2::text::uuid, $3, decode($4, 'hex'), $5, $6::text[],
         least(now() + make_interval(secs => nullif($7::text, '')::float8), (SELECT expires_at FROM maker))
  WHERE (SELECT count(*) FROM atlasqueue.tokens WHERE tenant = $1 AND (tokens.expires_at IS NULL OR tokens.expires_at > now())) < 200 AND ($8::text = '' OR EXISTS (SELECT FROM maker))
  RETURNING id, name, hint, to_json(scopes) AS scopes, created_at, expires_at, last_used_at;
