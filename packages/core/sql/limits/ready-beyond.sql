-- $1 tenant
-- $2 queue
SELECT true AS more FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND jobs.tenant = $1 AND jobs.queue = $2
  ORDER BY priority DESC, ready_at, id LIMIT 1 OFFSET 500;
