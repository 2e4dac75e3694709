-- $1 tenants
-- $2 queues
SELECT wanted.tenant, wanted.queue, coalesce((fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)), false) AS marked, paused_at IS NOT NULL AS paused
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, queue)
  LEFT JOIN atlasqueue.queues ON queues.tenant = wanted.tenant AND queues.queue = wanted.queue, LATERAL (
    SELECT FROM atlasqueue.jobs WHERE jobs.tenant = wanted.tenant AND jobs.queue = wanted.queue AND ready_at IS NOT NULL
    ORDER BY jobs.tenant DESC, jobs.queue DESC, priority, ready_at DESC, jobs.id DESC LIMIT 1) AS ready
  WHERE paused_at IS NULL;
