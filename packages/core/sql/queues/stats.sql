-- $1 tenant
-- $2 first
-- $3 last
-- $4 queues_max
WITH changed AS MATERIALIZED (
    SELECT queue, sum(scheduled) AS scheduled, sum(blocked) AS blocked, sum(queued) AS queued, sum(running) AS running, sum(failed) AS failed, sum(succeeded) AS succeeded, sum(dead) AS dead, sum(cancelled) AS cancelled FROM atlasqueue.queue_changes WHERE tenant = $1 AND queue BETWEEN $2 AND $3 GROUP BY queue
  ), held AS MATERIALIZED (
    SELECT * FROM (
      (SELECT queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_counts
       WHERE tenant = $1 AND queue BETWEEN $2 AND $3 AND (scheduled <> 0 OR blocked <> 0 OR queued <> 0 OR running <> 0 OR failed <> 0 OR succeeded <> 0 OR dead <> 0 OR cancelled <> 0) AND queue NOT IN (SELECT queue FROM changed)
       ORDER BY queue LIMIT $4::int)
      UNION ALL
      SELECT changed.queue, changed.scheduled + coalesce(total.scheduled, 0), changed.blocked + coalesce(total.blocked, 0), changed.queued + coalesce(total.queued, 0), changed.running + coalesce(total.running, 0), changed.failed + coalesce(total.failed, 0), changed.succeeded + coalesce(total.succeeded, 0), changed.dead + coalesce(total.dead, 0), changed.cancelled + coalesce(total.cancelled, 0)
      FROM changed LEFT JOIN atlasqueue.queue_counts AS total ON total.tenant = $1 AND total.queue = changed.queue
    ) AS known WHERE (scheduled <> 0 OR blocked <> 0 OR queued <> 0 OR running <> 0 OR failed <> 0 OR succeeded <> 0 OR dead <> 0 OR cancelled <> 0)
  ), named AS MATERIALIZED (
    SELECT queue FROM held
    UNION
    (SELECT queue FROM atlasqueue.queues WHERE tenant = $1 AND queue BETWEEN $2 AND $3 AND (paused_at IS NOT NULL OR group_concurrency IS NOT NULL OR fair_by IS NOT NULL OR defaults IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)) ORDER BY queue LIMIT $4::int)
    ORDER BY queue LIMIT $4::int
  )
  SELECT named.queue, paused_at, concurrency, group_concurrency, rate_limit, rate_period_seconds, group_rate_limit, group_rate_period_seconds, fair_by, defaults, CASE WHEN rate_limit IS NOT NULL THEN (
           SELECT coalesce(sum(count), 0)::int FROM atlasqueue.queue_starts
           WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key IS NULL
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.rate_period_seconds)) END AS starts,
         coalesce(scheduled, 0)::float8 AS scheduled, coalesce(blocked, 0)::float8 AS blocked, coalesce(queued, 0)::float8 AS queued, coalesce(running, 0)::float8 AS running, coalesce(failed, 0)::float8 AS failed, coalesce(succeeded, 0)::float8 AS succeeded, coalesce(dead, 0)::float8 AS dead, coalesce(cancelled, 0)::float8 AS cancelled,
         CASE WHEN queued > 0 THEN (
      WITH RECURSIVE fronts AS (
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = $1 AND jobs.queue = named.queue AND ready_at IS NOT NULL
         ORDER BY priority DESC, ready_at LIMIT 1)
        UNION ALL
        SELECT next.priority, next.ready_at FROM fronts, LATERAL 
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = $1 AND jobs.queue = named.queue AND ready_at IS NOT NULL AND priority < fronts.priority
         ORDER BY priority DESC, ready_at LIMIT 1) AS next
      ) SELECT min(ready_at) FROM fronts) END AS oldest_queued_at, now() AS seen_at
  FROM named LEFT JOIN held ON held.queue = named.queue
       LEFT JOIN atlasqueue.queues ON queues.tenant = $1 AND queues.queue = named.queue AND (paused_at IS NOT NULL OR group_concurrency IS NOT NULL OR fair_by IS NOT NULL OR defaults IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL))
  ORDER BY named.queue;
