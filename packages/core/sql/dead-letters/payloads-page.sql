-- $1 tenant
-- $2 queue
-- $3 type
-- $4 after_us
-- $5 after_id
-- $6 until_us
-- $7 fingerprint
-- $8 rows_max
WITH page AS MATERIALIZED (
    SELECT id, dead_at FROM (
      SELECT id, dead_at, tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3) AND ($7 = '' OR error_fingerprint = $7) AS found FROM atlasqueue.jobs WHERE dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) AND dead_at <= ('epoch'::timestamptz + $6::float8 * interval '1 microsecond') ORDER BY dead_at, id LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT $8::int)
  SELECT (SELECT count(*)::int FROM page) AS found, 
    CASE WHEN (SELECT count(*) FROM page) = $8::int
      THEN (SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM page ORDER BY dead_at DESC, id DESC LIMIT 1)
      ELSE (SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM atlasqueue.jobs WHERE dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) AND dead_at <= ('epoch'::timestamptz + $6::float8 * interval '1 microsecond') ORDER BY dead_at, id OFFSET 19999 LIMIT 1) END AS reached, (
    SELECT json_agg(json_build_object('id', id, 'type', type, 'queue', queue, 'before', payload) ORDER BY dead_at, id)
    FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND (SELECT dead_at) IS NOT NULL) AS jobs;
