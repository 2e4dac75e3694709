-- $1 tenant
-- $2 queue
-- $3 age_seconds_min
-- $4 after
-- $5 groups_max
WITH page AS MATERIALIZED (
    SELECT tenant, queue, group_key, heads FROM atlasqueue.job_groups
    WHERE tenant = $1 AND queue = $2 AND group_key > $4 ORDER BY group_key LIMIT $5::int
  )
  SELECT one.id, one.priority, page.group_key AS "group" FROM page LEFT JOIN LATERAL (
    SELECT id, priority, ready_at FROM (
      SELECT * FROM atlasqueue.jobs WHERE id = ANY(page.heads || ARRAY(
      SELECT held.id FROM atlasqueue.jobs AS held
      WHERE held.tenant = page.tenant AND held.queue = page.queue AND held.active_group_key = page.group_key)) AND (jobs.xmax = '0' OR (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL AND EXISTS (
      SELECT FROM atlasqueue.jobs AS own WHERE own.id = jobs.id FOR NO KEY UPDATE SKIP LOCKED)) OFFSET 0) AS let_through
    WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 ORDER BY priority DESC, ready_at, id LIMIT 20) AS one ON true
  ORDER BY page.group_key, one.priority DESC, one.ready_at, one.id;
