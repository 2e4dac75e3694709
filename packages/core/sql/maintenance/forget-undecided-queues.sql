-- $1 rows_max
WITH gone AS (
    DELETE FROM atlasqueue.queues WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.queues WHERE coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by, defaults::text) IS NULL ORDER BY tenant, queue LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by, defaults::text) IS NULL
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone;
