-- $1 tenant
-- $2 queue
-- $3 jobs_max
-- $4 ids
WITH front AS MATERIALIZED ((
    SELECT id, tenant, queue, priority, ready_at, group_key FROM atlasqueue.jobs
    WHERE ready_at IS NOT NULL AND jobs.tenant = $1 AND jobs.queue = $2
    ORDER BY priority DESC, ready_at, id LIMIT 500) UNION (
    SELECT ready.* FROM atlasqueue.queues, unnest($4::uuid[]) AS stocked(id), LATERAL (
      SELECT id, tenant, queue, priority, ready_at, group_key FROM atlasqueue.jobs
      WHERE jobs.id = stocked.id AND jobs.tenant = $1 AND jobs.queue = $2 AND status = 'queued' OFFSET 0) AS ready
    WHERE queues.tenant = $1 AND queues.queue = $2 AND (
    ready.group_key IS NULL OR queues.group_rate_limit IS NULL OR queues.group_rate_limit >= 1 AND queues.group_rate_limit >= 1 + (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key = ready.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.group_rate_period_seconds))) LIMIT $3::int)
  )
  SELECT id, tenant, queue, priority FROM (
    SELECT numbered.* FROM atlasqueue.queues, (
      SELECT *, row_number() OVER (PARTITION BY group_key ORDER BY priority DESC, ready_at, id) AS number FROM front) AS numbered
    WHERE queues.tenant = $1 AND queues.queue = $2 AND (
    numbered.group_key IS NULL OR queues.group_rate_limit IS NULL OR queues.group_rate_limit >= number AND queues.group_rate_limit >= number + (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key = numbered.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.group_rate_period_seconds)))) AS starting
  ORDER BY priority DESC, ready_at, id LIMIT $3::int;
