-- $1 tenants
-- $2 from
-- $3 queues_max
SELECT wanted.tenant, first.queue, first.due_at <= now() AS due
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, place) CROSS JOIN LATERAL (
    WITH RECURSIVE found AS (
      (
      SELECT queue, due_at FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND jobs.tenant = wanted.tenant AND jobs.queue > wanted.place
      ORDER BY jobs.tenant ASC, jobs.queue ASC, due_at LIMIT 1)
      UNION ALL
      SELECT next.queue, next.due_at FROM found, LATERAL (
      SELECT queue, due_at FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND jobs.tenant = wanted.tenant AND jobs.queue > found.queue
      ORDER BY jobs.tenant ASC, jobs.queue ASC, due_at LIMIT 1) AS next
    )
    SELECT queue, due_at FROM found LIMIT $3::int) AS first
  LEFT JOIN atlasqueue.queues ON queues.tenant = wanted.tenant AND queues.queue = first.queue
  ORDER BY wanted.tenant COLLATE "C" ASC, first.queue ASC;
