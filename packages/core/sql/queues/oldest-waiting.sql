-- $1 tenant
-- $2 queues
WITH wanted AS MATERIALIZED (SELECT unnest($2::text[]) AS queue), due AS MATERIALIZED (
    SELECT tenant, queue, created_at FROM atlasqueue.jobs WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 20000
  )
  SELECT queue, min(created_at) AS oldest FROM (
    SELECT due.queue, created_at FROM due JOIN wanted ON wanted.queue = due.queue WHERE tenant = $1
    UNION ALL
    SELECT wanted.queue, ready.created_at FROM wanted, LATERAL (
      SELECT created_at FROM atlasqueue.jobs
      WHERE tenant = $1 AND jobs.queue = wanted.queue AND ready_at IS NOT NULL
      ORDER BY priority DESC, ready_at, id LIMIT 200
    ) AS ready
    UNION ALL
    SELECT wanted.queue, blocked.created_at FROM wanted, LATERAL (
      SELECT created_at FROM atlasqueue.jobs
      WHERE tenant = $1 AND jobs.queue = wanted.queue AND group_seq IS NOT NULL
      ORDER BY group_key, group_seq LIMIT 200
    ) AS blocked
  ) AS waiting GROUP BY queue;
