-- $1 tenant
-- $2 queue
-- $3 jobs_max
SELECT id, tenant, queue, priority FROM (
    SELECT id, tenant, queue, priority, ready_at, group_key FROM atlasqueue.jobs
    WHERE ready_at IS NOT NULL AND jobs.tenant = $1 AND jobs.queue = $2
    ORDER BY priority DESC, ready_at, id LIMIT 5000) AS starting
  ORDER BY priority DESC, ready_at, id LIMIT $3::int;
