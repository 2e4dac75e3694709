-- $1 rows_max
WITH gone AS (
    DELETE FROM atlasqueue.rollups WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.rollups WHERE resolution = 'hour' AND at < date_trunc('hour', now(), 'UTC') - interval '30 days' ORDER BY at LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND resolution = 'hour' AND at < date_trunc('hour', now(), 'UTC') - interval '30 days'
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone;
