-- $1 tenant
-- $2 ids
SELECT count(*)::int AS count, NULL AS reached FROM jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1 AND dead_at IS NOT NULL;
