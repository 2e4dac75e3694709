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
WITH stretch AS MATERIALIZED (
    (SELECT id, dead_at, tenant = $1 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR error_fingerprint = $5) AND ($10 = '' OR tags @> ARRAY[$10]) AS found FROM atlasqueue.jobs WHERE cardinality($2::uuid[]) = 0 AND dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $6::float8 * interval '1 microsecond'), $7::text::uuid) AND dead_at <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') ORDER BY dead_at, id LIMIT 20000)
    UNION ALL SELECT id, dead_at, tenant = $1 AND CASE WHEN $9::text::bool THEN status IN ('dead', 'cancelled', 'failed') AND coalesce((SELECT dead_at), 'epoch') <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond')
                       ELSE (SELECT dead_at) <= ('epoch'::timestamptz + $8::float8 * interval '1 microsecond') END FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[])
  )
  SELECT count(*) FILTER (WHERE found)::int AS count,
         (
      SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM (SELECT dead_at, id FROM stretch ORDER BY dead_at, id OFFSET 19999 LIMIT 1) AS last) AS reached
  FROM stretch;
