-- $1 tenant
-- $2 queue
SELECT 
    greatest(0, coalesce(least(
      queues.concurrency - (
    SELECT coalesce(sum(running), 0) FROM (
      SELECT running FROM atlasqueue.queue_counts AS known WHERE known.tenant = queues.tenant AND known.queue = queues.queue
      UNION ALL
      SELECT running FROM atlasqueue.queue_changes AS known WHERE known.tenant = queues.tenant AND known.queue = queues.queue) AS known),
      queues.rate_limit - (SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
                           WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key IS NULL
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.rate_period_seconds))), 1000000))::int AS room, queues.group_rate_limit IS NOT NULL AS by_group,
    (SELECT extract(epoch FROM min(started_at) - statement_timestamp()) * 1000 + queues.rate_period_seconds * 1000 FROM atlasqueue.queue_starts
     WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key IS NULL
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.rate_period_seconds))::float8 AS retry_in_ms FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2 AND paused_at IS NULL AND (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL);
