-- $1 tenant
-- $2 queue
-- $3 listed
-- $4 ids
WITH first AS MATERIALIZED (
    SELECT ready.* FROM atlasqueue.queues, unnest($3::uuid[]) WITH ORDINALITY AS listed(id, place), LATERAL (
      SELECT id, priority, ready_at, group_key FROM atlasqueue.jobs
      WHERE jobs.id = listed.id AND jobs.tenant = $1 AND jobs.queue = $2 AND (SELECT ready_at) IS NOT NULL OFFSET 0) AS ready
    WHERE queues.tenant = $1 AND queues.queue = $2 AND (
    ready.group_key IS NULL OR queues.group_rate_limit IS NULL OR queues.group_rate_limit >= 1 AND queues.group_rate_limit >= 1 + (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key = ready.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.group_rate_period_seconds)))
    ORDER BY place LIMIT 1
  )
  SELECT id AS first, (
    SELECT coalesce(json_agg(jobs.id), '[]') FROM unnest($4::uuid[]) AS wanted(id) JOIN atlasqueue.jobs USING (id)
    WHERE (SELECT jobs.ready_at) IS NOT NULL
      AND (-jobs.priority, jobs.ready_at, jobs.id) < (-first.priority, first.ready_at, first.id)) AS before
  FROM first;
