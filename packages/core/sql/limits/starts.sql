-- $1 tenant
-- $2 queue
SELECT (SELECT coalesce(sum(count), 0)::int FROM atlasqueue.queue_starts
          WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key IS NULL
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.rate_period_seconds)) AS starts
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2 AND rate_limit IS NOT NULL;
