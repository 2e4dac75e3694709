-- $1 tenant
-- $2 queue
-- $3 type
-- $4 before_us
-- $5 before_id
-- $6 jobs_max
-- $7 fingerprint
WITH page AS MATERIALIZED (
    SELECT id FROM (
      SELECT id, dead_at, tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3)
                          AND ($7 = '' OR error_fingerprint = $7) AS found
      FROM jobs WHERE tenant = $1 AND type = $3 AND error_fingerprint = $7 AND dead_at IS NOT NULL AND (dead_at, id) < (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) ORDER BY dead_at DESC, id DESC LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at DESC, id DESC LIMIT $6::int
  )
  SELECT jobs.*, CASE WHEN id IS NOT NULL THEN json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) END AS place, ends.reached FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) < $6::int THEN (
      SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM jobs WHERE tenant = $1 AND type = $3 AND error_fingerprint = $7 AND dead_at IS NOT NULL AND (dead_at, id) < (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) ORDER BY dead_at DESC, id DESC OFFSET 19999 LIMIT 1) END AS reached
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND dead_at IS NOT NULL) AS jobs ON true
  ORDER BY jobs.dead_at DESC, jobs.id DESC;
