-- $1 tenant
-- $2 ids
SELECT DISTINCT tenant, queue FROM atlasqueue.jobs WHERE id = ANY($2::uuid[]) AND tenant = $1 AND status <> 'queued';
