-- $1 rows_max
WITH gone AS (
    DELETE FROM atlasqueue.queue_counts WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.queue_counts WHERE (scheduled, blocked, queued, running, failed, succeeded, dead, cancelled) = (0, 0, 0, 0, 0, 0, 0, 0) ORDER BY tenant, queue LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND (scheduled, blocked, queued, running, failed, succeeded, dead, cancelled) = (0, 0, 0, 0, 0, 0, 0, 0)
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone;
