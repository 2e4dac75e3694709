-- $1 queues_max
DELETE FROM atlasqueue.queues WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM atlasqueue.queues WHERE coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by) IS NULL LIMIT $1::int FOR UPDATE SKIP LOCKED)) AND coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by) IS NULL
  RETURNING 1;
