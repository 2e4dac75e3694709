-- $1 ids
SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND (SELECT dead_at) IS NOT NULL;
