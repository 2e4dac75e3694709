-- $1 tenant
-- $2 ids
-- $3 until_us
-- $4 rows_max
WITH page AS MATERIALIZED (
    SELECT id, dead_at FROM (
      SELECT id, dead_at, tenant = $1 AND (SELECT dead_at) <= ('epoch'::timestamptz + $3::float8 * interval '1 microsecond') AS found FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) ORDER BY dead_at, id LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT $4::int)
  SELECT (SELECT count(*)::int FROM page) AS found, NULL AS reached, (
    SELECT json_agg(json_build_object('id', id, 'type', type, 'queue', queue, 'before', payload) ORDER BY dead_at, id)
    FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM page)) AND (SELECT dead_at) IS NOT NULL) AS jobs;
