-- $1 tenant
-- $2 queues
SELECT queue, CASE WHEN paused_at IS NOT NULL THEN 'paused' ELSE 'marked' END AS kind
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND (paused_at IS NOT NULL OR (fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)));
