-- $1 tenant
-- $2 queue
-- $3 age_seconds_min
-- $4 jobs_max
-- $5 before
SELECT * FROM (
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 AND priority > 0
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)
    UNION ALL
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 AND priority = 0 AND ready_at < CASE WHEN $5 = 'all' THEN 'infinity' ELSE (
      SELECT ready_at FROM atlasqueue.jobs WHERE id = nullif(nullif($5, 'all'), '')::uuid) - make_interval(secs => $3::float8) END
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)
    UNION ALL
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 AND priority < 0
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)) AS lanes LIMIT CASE WHEN $5 = 'all' THEN 1 ELSE 3 END * $4::int;
