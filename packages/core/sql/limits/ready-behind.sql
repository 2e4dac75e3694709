-- $1 tenant
-- $2 queue
-- $3 priority
-- $4 ready
-- $5 id
-- $6 jobs_max
WITH page AS MATERIALIZED (
    SELECT * FROM (
      (SELECT id, priority, to_char(ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ready, ready_at, group_key FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2 AND priority = $3::int AND (ready_at, id) > ($4::text::timestamptz, $5::uuid)
       ORDER BY priority DESC, ready_at, id LIMIT 5000)
      UNION ALL
      (SELECT id, priority, to_char(ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ready, ready_at, group_key FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2 AND priority < $3::int
       ORDER BY priority DESC, ready_at, id LIMIT 5000)) AS ranges
    ORDER BY priority DESC, ready_at, id LIMIT 5000
  ), starting AS MATERIALIZED (
    
    SELECT numbered.* FROM atlasqueue.queues, (
      SELECT *, row_number() OVER (PARTITION BY group_key ORDER BY priority DESC, ready_at, id) AS number FROM page) AS numbered
    WHERE queues.tenant = $1 AND queues.queue = $2 AND (
    numbered.group_key IS NULL OR queues.group_rate_limit IS NULL OR queues.group_rate_limit >= number AND queues.group_rate_limit >= number + (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key = numbered.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.group_rate_period_seconds)))
    ORDER BY priority DESC, ready_at, id LIMIT $6::int
  )
  SELECT id, priority, ready, true AS may_start, ready_at FROM starting
  UNION ALL
  SELECT * FROM (
    SELECT id, priority, ready, false, ready_at FROM page
    WHERE (SELECT count(*) FROM starting) < $6::int AND (SELECT count(*) FROM page) = 5000
    ORDER BY priority, ready_at DESC, id DESC LIMIT 1) AS last
  ORDER BY priority DESC, ready_at, id;
