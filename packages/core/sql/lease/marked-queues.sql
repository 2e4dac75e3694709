-- $1 tenant
-- $2 queues
-- $3 ids
SELECT queue 
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND (fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL))
    AND queue = ANY(ARRAY(SELECT queue FROM atlasqueue.jobs WHERE id = ANY((SELECT $3::uuid[])::uuid[]) AND tenant = $1));
