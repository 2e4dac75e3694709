-- $1 tenant
-- $2 queue
-- $3 after
-- $4 groups_max
WITH held AS MATERIALIZED (
    SELECT holds_group AS group, id, type, status, worker_id, updated_at AS since FROM atlasqueue.jobs
    WHERE tenant = $1 AND queue = $2 AND holds_group IS NOT NULL AND holds_group > $3
    ORDER BY holds_group LIMIT $4::int
  )
  SELECT held.*, (
    SELECT count(*)::int FROM (
      SELECT FROM atlasqueue.jobs WHERE tenant = $1 AND queue = $2 AND group_key = held.group AND blocked_seq > 0
      ORDER BY blocked_seq LIMIT 1001) AS waiting) AS blocked
  FROM held ORDER BY held.group;
