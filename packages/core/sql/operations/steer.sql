-- $1 id
-- $2 tenant
-- $3 status
-- $4 kind
WITH found AS MATERIALIZED (
    SELECT * FROM atlasqueue.operations WHERE id = $1::uuid AND tenant = $2 AND ($4 = '' OR kind = $4) AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL FOR UPDATE
  ), steered AS (
    UPDATE atlasqueue.operations AS operation
    SET status = $3, updated_at = now(), next_at = now(), finished_at = CASE WHEN $3 = 'cancelled' THEN now() END
    FROM found WHERE operation.id = found.id AND found.status IN ('running', 'paused') AND found.status <> $3
    RETURNING operation.*, found.status AS was
  )
  SELECT * FROM steered
  UNION ALL
  SELECT *, status AS was FROM found WHERE NOT EXISTS (SELECT FROM steered);
