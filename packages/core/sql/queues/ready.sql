-- $1 tenant
-- $2 queue
-- $3 age_seconds_min
-- $4 jobs_max
-- $5 reach_seconds
-- $6 before
SELECT * FROM (
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 AND ready_at >= CASE WHEN $5::float8 = 'infinity' THEN '-infinity'
      ELSE now() - make_interval(secs => $5::float8) END AND priority > 0
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)
    UNION ALL
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 AND ready_at >= CASE WHEN $5::float8 = 'infinity' THEN '-infinity'
      ELSE now() - make_interval(secs => $5::float8) END AND priority = 0 AND ready_at < CASE WHEN $6 = 'all' THEN 'infinity' ELSE (
      SELECT ready_at FROM atlasqueue.jobs WHERE id = nullif(nullif($6, 'all'), '')::uuid) - make_interval(secs => $3::float8) END
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)
    UNION ALL
    (SELECT id, tenant, queue, priority FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2
      AND abs(extract(epoch FROM now() - updated_at)) >= $3::float8 AND ready_at >= CASE WHEN $5::float8 = 'infinity' THEN '-infinity'
      ELSE now() - make_interval(secs => $5::float8) END AND priority < 0
     ORDER BY priority DESC, ready_at, id LIMIT $4::int)) AS lanes LIMIT CASE WHEN $6 = 'all' THEN 1 ELSE 3 END * $4::int;
