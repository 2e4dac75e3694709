-- $1 id
-- $2 tenant
-- $3 state
WITH found AS MATERIALIZED (
    SELECT * FROM dead_letter_replays WHERE id = $1::uuid AND tenant = $2 FOR UPDATE
  ), steered AS (
    UPDATE dead_letter_replays AS replays
    SET state = $3, updated_at = now(), next_at = now(), finished_at = CASE WHEN $3 = 'cancelled' THEN now() END
    FROM found WHERE replays.id = found.id AND found.state IN ('running', 'paused') AND found.state <> $3
    RETURNING replays.*, found.state AS was
  )
  SELECT * FROM steered
  UNION ALL
  SELECT *, state AS was FROM found WHERE NOT EXISTS (SELECT FROM steered);
