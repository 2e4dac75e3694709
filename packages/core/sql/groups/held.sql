-- $1 tenant
-- $2 queue
-- $3 after
-- $4 groups_max
WITH held AS MATERIALIZED (
    SELECT active_group_key AS group, id, type, status, worker_id, updated_at AS since FROM atlasqueue.jobs
    WHERE tenant = $1 AND queue = $2 AND active_group_key IS NOT NULL AND active_group_key > $3
    ORDER BY active_group_key LIMIT $4::int
  )
  SELECT held.*, (
    SELECT count(*)::int FROM (
      SELECT FROM atlasqueue.jobs WHERE tenant = $1 AND queue = $2 AND group_key = held.group AND group_seq > 0
      ORDER BY group_seq LIMIT 1001) AS waiting) AS blocked
  FROM held ORDER BY held.group;
