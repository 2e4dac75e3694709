-- $1 tenants
-- $2 below
-- $3 queues_max
SELECT wanted.tenant, step.queue, coalesce((fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)), false) AS marked, paused_at IS NOT NULL AS paused
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, below) CROSS JOIN LATERAL (
    WITH RECURSIVE found AS (
      (SELECT queue FROM atlasqueue.jobs
       WHERE ready_at IS NOT NULL AND jobs.tenant = wanted.tenant AND queue < wanted.below
       ORDER BY jobs.tenant DESC, queue DESC LIMIT 1)
      UNION ALL
      SELECT next.queue FROM found, LATERAL (
        SELECT queue FROM atlasqueue.jobs
        WHERE ready_at IS NOT NULL AND jobs.tenant = wanted.tenant AND jobs.queue < found.queue
        ORDER BY jobs.tenant DESC, queue DESC LIMIT 1) AS next
    )
    SELECT queue FROM found LIMIT $3::int) AS step
  LEFT JOIN atlasqueue.queues ON queues.tenant = wanted.tenant AND queues.queue = step.queue
  ORDER BY wanted.tenant COLLATE "C" DESC, step.queue DESC;
