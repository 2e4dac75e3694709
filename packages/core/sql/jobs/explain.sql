-- $1 id
-- $2 tenant
-- $3 ahead_max
SELECT job.status, job.queue, job.attempts, job.max_attempts, job.run_at, job.worker_id, job.locked_until, job.finished_at,
         job.last_error, job.dead_reason, job_groups.heads[1] AS head, job.blocked_seq IS NOT DISTINCT FROM 0 AS arrived, coalesce(job.locked_until < now(), false) AS lease_has_ended, queues.paused_at,
         CASE WHEN job.ready_at IS NULL THEN 0 ELSE (
           SELECT count(*)::int FROM (
             SELECT FROM ((
             SELECT 1 FROM jobs AS other WHERE other.ready_at IS NOT NULL AND other.tenant = job.tenant AND other.queue = job.queue
               AND other.priority > job.priority
             ORDER BY other.priority DESC, other.ready_at, other.id LIMIT $3::int)
             UNION ALL (
             SELECT 1 FROM jobs AS other WHERE other.ready_at IS NOT NULL AND other.tenant = job.tenant AND other.queue = job.queue
               AND other.priority = job.priority AND (other.ready_at, other.id) < (job.ready_at, job.id)
             ORDER BY other.priority DESC, other.ready_at, other.id LIMIT $3::int)) AS earlier
             LIMIT $3::int) AS before) END AS ahead
  FROM jobs AS job LEFT JOIN queues ON queues.tenant = job.tenant AND queues.queue = job.queue
  LEFT JOIN job_groups ON job_groups.tenant = job.tenant AND job_groups.queue = job.queue AND job_groups.group_key = job.group_key
  WHERE job.id = $1::uuid AND job.tenant = $2;
