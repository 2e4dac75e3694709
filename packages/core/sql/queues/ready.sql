-- $1 tenant
-- $2 queue
-- $3 age_seconds_min
-- $4 jobs_max
-- $5 reach_seconds
SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 AND ready_at >= CASE WHEN $5::float8 = 'infinity' THEN '-infinity'
      ELSE now() - make_interval(secs => $5::float8) END AND (jobs.xmax = '0' OR (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL AND EXISTS (
      SELECT FROM atlasqueue.jobs AS own WHERE own.id = jobs.id FOR NO KEY UPDATE SKIP LOCKED))
  ORDER BY priority DESC, ready_at, id LIMIT $4::int;
