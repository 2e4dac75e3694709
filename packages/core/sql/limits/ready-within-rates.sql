-- $1 tenant
-- $2 queue
-- $3 jobs_max
SELECT front.id, front.tenant, front.queue, front.priority FROM queues, LATERAL (
    SELECT * FROM jobs WHERE ready_at IS NOT NULL AND jobs.tenant = $1 AND jobs.queue = $2
    ORDER BY priority DESC, ready_at, id LIMIT 5000) AS front
  WHERE queues.tenant = $1 AND queues.queue = $2 AND (
    front.group_key IS NULL OR queues.group_rate_limit IS NULL OR queues.group_rate_limit > (
      SELECT coalesce(sum(count), 0) FROM queue_starts
      WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key = front.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.group_rate_period_seconds)))
  ORDER BY front.priority DESC, front.ready_at, front.id LIMIT $3::int;
