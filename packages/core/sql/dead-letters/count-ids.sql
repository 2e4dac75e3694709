-- $1 tenant
-- $2 ids
-- $3 until_us
SELECT count(*)::int AS count, NULL AS reached FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1 AND (SELECT dead_at) <= ('epoch'::timestamptz + $3::float8 * interval '1 microsecond');
