-- $1 rows_max
WITH gone AS (
    DELETE FROM atlasqueue.operations WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.operations WHERE finished_at < now() - interval '30 days' ORDER BY finished_at LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND finished_at < now() - interval '30 days'
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone;
