-- $1 tenants
-- $2 after
-- $3 queues_max
SELECT wanted.tenant, step.queue, step.due_at <= now() AS due
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, after) CROSS JOIN LATERAL (
    WITH RECURSIVE found AS (
      (SELECT queue, due_at FROM atlasqueue.jobs
       WHERE due_at IS NOT NULL AND jobs.tenant = wanted.tenant AND queue > wanted.after
       ORDER BY jobs.tenant, queue, due_at LIMIT 1)
      UNION ALL
      SELECT next.queue, next.due_at FROM found, LATERAL (
        SELECT queue, due_at FROM atlasqueue.jobs
        WHERE due_at IS NOT NULL AND jobs.tenant = wanted.tenant AND jobs.queue > found.queue
        ORDER BY jobs.tenant, queue, due_at LIMIT 1) AS next
    )
    SELECT queue, due_at FROM found LIMIT $3::int) AS step
  ORDER BY wanted.tenant, step.queue;
