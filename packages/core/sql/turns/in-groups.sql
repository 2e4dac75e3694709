-- $1 tenant
-- $2 ids
SELECT id, group_key FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1;
