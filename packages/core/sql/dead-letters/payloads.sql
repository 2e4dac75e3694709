-- $1 tenant
-- $2 ids
-- $3 queue
-- $4 type
-- $5 fingerprint
-- $6 after_us
-- $7 after_id
-- $8 until_us
-- $9 stopped
-- $10 tag
-- $11 rows_max
WITH page AS MATERIALIZED (
    (SELECT id, dead_at FROM (
      SELECT id, dead_at, tenant = $1 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR error_fingerprint = $5) AND ($10 = '' OR tags @> ARRAY[$10]) AS found FROM atlasqueue.jobs WHERE cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $6::float8 * interval '1 microsecond'), $7::text::uuid) AND dead_at <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') ORDER BY dead_at, id LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT $11::int)
    UNION ALL
    (SELECT id, dead_at FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1 AND CASE WHEN $9::text::bool THEN status IN ('dead', 'cancelled', 'failed') AND coalesce((SELECT dead_at), 'epoch') <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond')
                       ELSE (SELECT dead_at) <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') END ORDER BY dead_at, id LIMIT $11::int))
  SELECT (SELECT count(*)::int FROM page) AS found,
    CASE WHEN cardinality($2::uuid[]) > 0 THEN NULL
      WHEN (SELECT count(*) FROM page) = $11::int
      THEN (SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM page ORDER BY dead_at DESC, id DESC LIMIT 1)
      ELSE (
      SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM (SELECT dead_at, id FROM atlasqueue.jobs WHERE cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $6::float8 * interval '1 microsecond'), $7::text::uuid) AND dead_at <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') ORDER BY dead_at, id OFFSET 19999 LIMIT 1) AS last) END AS reached, (
    SELECT json_agg(json_build_object('id', id, 'type', type, 'queue', queue, 'before', payload) ORDER BY dead_at, id)
    FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND (SELECT dead_at) IS NOT NULL) AS jobs;
