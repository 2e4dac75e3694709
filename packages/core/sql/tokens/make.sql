-- $1 tenant
-- $2 id
-- $3 hash
-- $4 hint
-- $5 made_by
-- $6 name
-- $7 scopes
-- $8 expires_in_seconds
-- $9 replaced
-- $10 overlap_seconds
WITH gone AS (
    DELETE FROM atlasqueue.tokens WHERE tenant = $1 AND id = ANY(ARRAY(
      SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND NOT (tokens.expires_at IS NULL OR tokens.expires_at > now()) FOR UPDATE SKIP LOCKED))
    RETURNING id
  ), ended_sessions AS (
    DELETE FROM atlasqueue.sessions WHERE tenant = $1 AND token_id IN (SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND rotated_to IN (SELECT id FROM gone))
  ), maker AS MATERIALIZED (
    SELECT expires_at, floor(extract(epoch FROM expires_at - now()))::float8 AS seconds_max
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($5::text, '')::uuid AND (tokens.expires_at IS NULL OR tokens.expires_at > now())
  ), before AS MATERIALIZED (
    SELECT *, coalesce(own_expires_at, expires_at, 'infinity') AS own_end
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($9::text, '')::uuid AND (tokens.expires_at IS NULL OR tokens.expires_at > now()) FOR UPDATE
  ), wish AS (
    SELECT $6 AS name, $7::text[] AS scopes, now() + make_interval(secs => nullif($8::text, '')::float8) AS expires_at
    WHERE $9::text = '' AND NOT EXISTS (SELECT FROM maker WHERE seconds_max < nullif($8::text, '')::float8)
    UNION ALL
    SELECT name, scopes, now() + (nullif(own_end, 'infinity') - created_at) FROM before WHERE rotated_to IS NULL
  ), made AS (
    INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
    SELECT $1, $2::text::uuid, name, decode($3, 'hex'), $4, scopes, least(expires_at, (SELECT expires_at FROM maker)) FROM wish
    WHERE (SELECT count(*) FROM atlasqueue.tokens WHERE tenant = $1 AND (tokens.expires_at IS NULL OR tokens.expires_at > now())) < 200
      AND ($5::text = '' OR EXISTS (SELECT FROM maker))
    RETURNING id, name, hint, scopes, created_at, expires_at, last_used_at
  ), ending AS (
    UPDATE atlasqueue.tokens
    SET expires_at = least(tokens.expires_at, now() + make_interval(secs => $10::float8)),
      own_expires_at = before.own_end, rotated_to = made.id
    FROM before, made WHERE tokens.id = before.id
  )
  SELECT $5::text = '' OR EXISTS (SELECT FROM maker) AS maker, (SELECT seconds_max FROM maker) AS seconds_max,
         EXISTS (SELECT FROM before) AS found, (SELECT rotated_to FROM before) AS successor, (SELECT to_json(made) FROM made) AS made;
