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
  ), maker AS MATERIALIZED (
    SELECT expires_at, floor(extract(epoch FROM expires_at - now()))::float8 AS seconds_max FROM (SELECT id, expires_at FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($8::text, '')::uuid AND (tokens.expires_at IS NULL OR tokens.expires_at > now())) AS asking
  ), made AS (
    INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
    SELECT $1, $2::text::uuid, $3, decode($4, 'hex'), $5, $6::text[],
           least(now() + make_interval(secs => nullif($7::text, '')::float8), (SELECT expires_at FROM maker))
    WHERE (SELECT count(*) FROM atlasqueue.tokens WHERE tenant = $1 AND (tokens.expires_at IS NULL OR tokens.expires_at > now())) < 200 AND ($8::text = '' OR EXISTS (SELECT FROM maker))
      AND NOT EXISTS (SELECT FROM maker WHERE seconds_max < nullif($7::text, '')::float8)
    RETURNING id, name, hint, scopes, created_at, expires_at, last_used_at
  )
  SELECT $8::text = '' OR EXISTS (SELECT FROM maker) AS maker, (SELECT seconds_max FROM maker) AS seconds_max,
         (SELECT to_json(made) FROM made) AS made;
