-- $1 tenant
-- $2 queue
-- $3 type
-- $4 after_us
-- $5 after_id
-- $6 until_us
-- $7 fingerprint
WITH stretch AS MATERIALIZED (
      SELECT id, dead_at, tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3) AND ($7 = '' OR error_fingerprint = $7) AS found FROM atlasqueue.jobs WHERE dead_at IS NOT NULL AND (dead_at, id) > (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) AND dead_at <= ('epoch'::timestamptz + $6::float8 * interval '1 microsecond')
      ORDER BY dead_at, id LIMIT 20000
    )
    SELECT count(*) FILTER (WHERE found)::int AS count,
           (SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM stretch ORDER BY dead_at, id OFFSET 19999 LIMIT 1) AS reached
    FROM stretch;
