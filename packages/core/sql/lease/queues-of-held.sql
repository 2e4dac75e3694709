-- $1 tenant
-- $2 ids
SELECT DISTINCT tenant, queue FROM atlasqueue.jobs
  WHERE id = ANY($2::uuid[]) AND tenant = $1 AND status = 'queued' AND NOT (jobs.xmax = '0' OR (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL AND EXISTS (
      SELECT FROM atlasqueue.jobs AS own WHERE own.id = jobs.id FOR NO KEY UPDATE SKIP LOCKED))
    AND NOT EXISTS (SELECT FROM atlasqueue.queues WHERE queues.tenant = $1 AND queues.queue = jobs.queue AND (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL));
