-- $1 tenant
-- $2 queue
-- $3 next_id
-- $4 gap_seconds_min
-- $5 jobs_max
-- $6 reach_seconds
SELECT id, tenant, queue, priority FROM atlasqueue.jobs
  WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2 AND priority = 0 AND ready_at >= CASE WHEN $6::float8 = 'infinity' THEN '-infinity'
      ELSE now() - make_interval(secs => $6::float8) END
    AND ready_at < (SELECT ready_at FROM atlasqueue.jobs WHERE id = $3::uuid) - make_interval(secs => $4::float8)
  ORDER BY ready_at, id LIMIT $5::int;
