-- $1 tenant
-- $2 id
-- $3 overlap_seconds
-- $4 new_id
-- $5 hash
-- $6 hint
-- $7 made_by
WITH gone AS (
    DELETE FROM atlasqueue.tokens WHERE tenant = $1 AND id = ANY(ARRAY(
      SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND NOT (tokens.expires_at IS NULL OR tokens.expires_at > now()) FOR UPDATE SKIP LOCKED))
    RETURNING id
  ), ended_sessions AS (
    DELETE FROM atlasqueue.sessions WHERE tenant = $1 AND token_id IN (SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND rotated_to IN (SELECT id FROM gone))
  ), maker AS (SELECT id, expires_at FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($7::text, '')::uuid AND (tokens.expires_at IS NULL OR tokens.expires_at > now())), before AS MATERIALIZED (
    SELECT *, coalesce(own_expires_at, expires_at, 'infinity') AS own_end
    FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND (tokens.expires_at IS NULL OR tokens.expires_at > now()) FOR UPDATE
  ), made AS (
    INSERT INTO atlasqueue.tokens (tenant, id, name, hash, hint, scopes, expires_at)
    SELECT tenant, $4::text::uuid, name, decode($5, 'hex'), $6, scopes,
      least(now() + (nullif(own_end, 'infinity') - created_at), (SELECT expires_at FROM maker))
    FROM before
    WHERE rotated_to IS NULL AND (SELECT count(*) FROM atlasqueue.tokens WHERE tenant = $1 AND (tokens.expires_at IS NULL OR tokens.expires_at > now())) < 200 AND ($7::text = '' OR EXISTS (SELECT FROM maker))
    RETURNING id, name, hint, scopes, created_at, expires_at, last_used_at
  ), ending AS (
    UPDATE atlasqueue.tokens
    SET expires_at = least(tokens.expires_at, now() + make_interval(secs => $3::float8)),
      own_expires_at = before.own_end, rotated_to = made.id
    FROM before, made WHERE tokens.id = before.id
  )
  SELECT $7::text = '' OR EXISTS (SELECT FROM maker) AS maker, EXISTS (SELECT FROM before) AS found,
    (SELECT rotated_to FROM before) AS successor, (SELECT to_json(made) FROM made) AS made;
