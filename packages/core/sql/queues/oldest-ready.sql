-- $1 queues_max
WITH RECURSIVE found AS (
    (SELECT tenant, queue FROM atlasqueue.jobs WHERE ready_at IS NOT NULL ORDER BY tenant DESC, queue DESC LIMIT 1)
    UNION ALL
    SELECT next.tenant, next.queue FROM found, LATERAL (
      SELECT tenant, queue FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND (tenant, queue) < (found.tenant, found.queue)
      ORDER BY tenant DESC, queue DESC LIMIT 1) AS next
  ), page AS MATERIALIZED (SELECT tenant, queue FROM found LIMIT $1::int)
  SELECT page.tenant, page.queue, coalesce((concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL), false) AS limited,
         CASE WHEN paused_at IS NULL THEN greatest(0, extract(epoch FROM now() - (
      WITH RECURSIVE fronts AS (
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = page.tenant AND jobs.queue = page.queue AND ready_at IS NOT NULL
         ORDER BY priority DESC, ready_at LIMIT 1)
        UNION ALL
        SELECT next.priority, next.ready_at FROM fronts, LATERAL 
        (SELECT priority, ready_at FROM atlasqueue.jobs
         WHERE jobs.tenant = page.tenant AND jobs.queue = page.queue AND ready_at IS NOT NULL AND priority < fronts.priority
         ORDER BY priority DESC, ready_at LIMIT 1) AS next
      ) SELECT min(ready_at) FROM fronts)) * 1000)
              ELSE 0 END::float8 AS ready_ms
  FROM page LEFT JOIN atlasqueue.queues ON queues.tenant = page.tenant AND queues.queue = page.queue
  ORDER BY page.tenant DESC, page.queue DESC;
