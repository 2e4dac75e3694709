-- $1 tenant
-- $2 ids
-- $3 queues
-- $4 types
SELECT id, tenant, queue, priority, status = 'queued' AND NOT ((SELECT $4::text)::text = '' OR jobs.type = ANY(ARRAY(SELECT unnest(nullif($4::text, '')::text[])))) AS is_other, queue = ANY($3::text[]) AND EXISTS (
    SELECT FROM atlasqueue.queues WHERE queues.tenant = $1 AND queues.queue = jobs.queue AND paused_at IS NULL AND (fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL))) AS is_marked
  FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1
  ORDER BY id;
