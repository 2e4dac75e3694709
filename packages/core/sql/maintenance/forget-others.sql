-- $1 rows_max
WITH 
  operations_gone AS (
    DELETE FROM atlasqueue.operations WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.operations WHERE finished_at < now() - interval '30 days' ORDER BY finished_at LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND finished_at < now() - interval '30 days'
    RETURNING 1), 
  queue_counts_gone AS (
    DELETE FROM atlasqueue.queue_counts WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.queue_counts WHERE (scheduled, blocked, queued, running, failed, succeeded, dead, cancelled) = (0, 0, 0, 0, 0, 0, 0, 0) ORDER BY tenant, queue LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND (scheduled, blocked, queued, running, failed, succeeded, dead, cancelled) = (0, 0, 0, 0, 0, 0, 0, 0)
    RETURNING 1), 
  queues_gone AS (
    DELETE FROM atlasqueue.queues WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.queues WHERE coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by, defaults::text) IS NULL ORDER BY tenant, queue LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND coalesce(paused_at::text, concurrency::text, group_concurrency::text, rate_limit::text, group_rate_limit::text, fair_by, defaults::text) IS NULL
    RETURNING 1)
  SELECT ((SELECT count(*) FROM operations_gone) + (SELECT count(*) FROM queue_counts_gone) + (SELECT count(*) FROM queues_gone))::int AS gone;
