-- $1 ids
-- $2 tenant
SELECT id, tenant, queue, type, priority, attempts, max_attempts, timeout_seconds, backoff, last_error, group_key,
         coalesce(worker_id, '') AS worker_id, date_part('epoch', started_at - run_at) AS waited_seconds,
         CASE WHEN status = 'running' THEN date_part('epoch', statement_timestamp() - started_at) * 1000 END AS ran_ms, status = 'queued' AS is_queued,
         EXISTS (SELECT FROM atlasqueue.queues WHERE queues.tenant = jobs.tenant AND queues.queue = jobs.queue AND (fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL))) AS limited
  FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND tenant = $2;
