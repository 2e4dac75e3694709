-- $1 tenant
-- $2 looked_into_max
WITH changed AS MATERIALIZED (
    SELECT queue, sum(scheduled) AS scheduled, sum(blocked) AS blocked, sum(queued) AS queued, sum(running) AS running, sum(failed) AS failed, sum(succeeded) AS succeeded, sum(dead) AS dead, sum(cancelled) AS cancelled
    FROM atlasqueue.queue_changes WHERE tenant = $1 GROUP BY queue
  ), held AS MATERIALIZED (
    SELECT queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_counts WHERE tenant = $1 AND queue NOT IN (SELECT queue FROM changed)
    UNION ALL
    SELECT changed.queue, changed.scheduled + coalesce(total.scheduled, 0), changed.blocked + coalesce(total.blocked, 0), changed.queued + coalesce(total.queued, 0), changed.running + coalesce(total.running, 0), changed.failed + coalesce(total.failed, 0), changed.succeeded + coalesce(total.succeeded, 0), changed.dead + coalesce(total.dead, 0), changed.cancelled + coalesce(total.cancelled, 0)
    FROM changed LEFT JOIN atlasqueue.queue_counts AS total ON total.tenant = $1 AND total.queue = changed.queue
  ), ready AS MATERIALIZED (
    SELECT held.queue, held.queued, held.running::float8 AS running, coalesce((concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL), false) AS limited
    FROM held LEFT JOIN atlasqueue.queues ON queues.tenant = $1 AND queues.queue = held.queue
    WHERE held.queued > 0 AND paused_at IS NULL
  ), backlogs AS MATERIALIZED (
    SELECT * FROM ready ORDER BY queued DESC LIMIT $2::int
  ), waiting AS MATERIALIZED (
    SELECT queue, running, limited, (
      WITH RECURSIVE fronts AS (
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = $1 AND jobs.queue = backlogs.queue AND ready_at IS NOT NULL
         ORDER BY priority DESC, ready_at LIMIT 1)
        UNION ALL
        SELECT next.priority, next.ready_at FROM fronts, LATERAL 
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = $1 AND jobs.queue = backlogs.queue AND ready_at IS NOT NULL AND priority < fronts.priority
         ORDER BY priority DESC, ready_at LIMIT 1) AS next
      ) SELECT min(ready_at) FROM fronts) AS since FROM backlogs
  )
  SELECT now() AS at, coalesce(sum(scheduled), 0)::float8 AS scheduled, coalesce(sum(blocked), 0)::float8 AS blocked, coalesce(sum(queued), 0)::float8 AS queued, coalesce(sum(running), 0)::float8 AS running, coalesce(sum(failed), 0)::float8 AS failed, coalesce(sum(succeeded), 0)::float8 AS succeeded, coalesce(sum(dead), 0)::float8 AS dead, coalesce(sum(cancelled), 0)::float8 AS cancelled,
         (count(*) FILTER (WHERE scheduled <> 0 OR blocked <> 0 OR queued <> 0 OR running <> 0 OR failed <> 0 OR succeeded <> 0 OR dead <> 0 OR cancelled <> 0))::int AS queues,
         (SELECT count(*)::int FROM atlasqueue.queues WHERE tenant = $1 AND paused_at IS NOT NULL) AS paused_queues,
         bool_or(least(scheduled, blocked, queued, running, failed, succeeded, dead, cancelled) < 0) AS below_zero,
         (SELECT json_agg(waiting ORDER BY since) FROM waiting WHERE since IS NOT NULL) AS waiting
  FROM held;
