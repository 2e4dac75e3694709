-- $1 operations_max
DELETE FROM operations WHERE id = ANY(ARRAY(
    SELECT id FROM operations WHERE finished_at < now() - interval '30 days' LIMIT $1::int
    FOR UPDATE SKIP LOCKED))
  RETURNING 1;
