-- $1 tenant
-- $2 id
WITH gone AS (
    DELETE FROM atlasqueue.tokens WHERE tenant = $1 AND id = $2::text::uuid AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL RETURNING id
  ), ended_sessions AS (
    DELETE FROM atlasqueue.sessions WHERE tenant = $1 AND token_id IN (SELECT id FROM atlasqueue.tokens WHERE tenant = $1 AND rotated_to IN (SELECT id FROM gone))
  )
  SELECT id FROM gone;
