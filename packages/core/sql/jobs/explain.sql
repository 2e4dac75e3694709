-- $1 id
-- $2 tenant
-- $3 ahead_max
SELECT job.status, job.queue, job.type, job.group_key, job.attempts, job.max_attempts, job.run_at, job.due_at, job.waits_for, job.worker_id, job.locked_until, job.finished_at,
         job.last_error, job.dead_reason, job.traceparent, coalesce((
      SELECT held.id FROM atlasqueue.jobs AS held
      WHERE held.tenant = job.tenant AND held.queue = job.queue AND held.active_group_key = job.group_key), job_groups.heads[1]) AS head,
         job.group_seq IS DISTINCT FROM 0 AS has_place, EXISTS (SELECT FROM atlasqueue.flow_edges WHERE child = job.id) AS waits_for_parents, 
         (SELECT count(*)::int FROM (
            SELECT FROM atlasqueue.flow_edges WHERE child = job.id LIMIT 1000) AS open) AS awaited,
         (SELECT json_agg(json_build_object('id', id, 'status', status, 'on_parent_failure', on_parent_failure) ORDER BY id) FROM (
            SELECT id, status, on_parent_failure FROM atlasqueue.flow_edges JOIN atlasqueue.jobs ON jobs.id = parent
            WHERE child = job.id ORDER BY parent LIMIT 10) AS shown) AS parents,
         (SELECT cancelled_by FROM atlasqueue.flow_jobs WHERE job_id = job.id) AS cancelled_by, coalesce(job.locked_until < now(), false) AS lease_has_ended, queues.paused_at,
    queues.concurrency, CASE WHEN queues.concurrency IS NOT NULL THEN (
    SELECT coalesce(sum(running), 0) FROM (
      SELECT running FROM atlasqueue.queue_counts AS known WHERE known.tenant = queues.tenant AND known.queue = queues.queue
      UNION ALL
      SELECT running FROM atlasqueue.queue_changes AS known WHERE known.tenant = queues.tenant AND known.queue = queues.queue) AS known)::int END AS running,
    CASE WHEN queues.rate_limit IS NOT NULL THEN (
      SELECT json_build_object('limit', queues.rate_limit, 'period_seconds', queues.rate_period_seconds, 'started', coalesce(sum(count), 0),
                               'free_at_ms', (extract(epoch FROM min(started_at)) + queues.rate_period_seconds) * 1000)
      FROM atlasqueue.queue_starts WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key IS NULL
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.rate_period_seconds)) END AS rate,
    CASE WHEN queues.group_rate_limit IS NOT NULL THEN (
      SELECT json_build_object('limit', queues.group_rate_limit, 'period_seconds', queues.group_rate_period_seconds, 'started', coalesce(sum(count), 0),
                               'free_at_ms', (extract(epoch FROM min(started_at)) + queues.group_rate_period_seconds) * 1000)
      FROM atlasqueue.queue_starts WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key = job.group_key
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.group_rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.group_rate_period_seconds)) END AS group_rate,
         CASE WHEN job.ready_at IS NULL THEN 0 ELSE (
           SELECT count(*)::int FROM (
             SELECT FROM ((
             SELECT 1 FROM atlasqueue.jobs AS other WHERE other.ready_at IS NOT NULL AND other.tenant = job.tenant AND other.queue = job.queue
               AND other.priority > job.priority
             ORDER BY other.priority DESC, other.ready_at, other.id LIMIT $3::int)
             UNION ALL (
             SELECT 1 FROM atlasqueue.jobs AS other WHERE other.ready_at IS NOT NULL AND other.tenant = job.tenant AND other.queue = job.queue
               AND other.priority = job.priority AND (other.ready_at, other.id) < (job.ready_at, job.id)
             ORDER BY other.priority DESC, other.ready_at, other.id LIMIT $3::int)) AS earlier
             LIMIT $3::int) AS before) END AS ahead
  FROM atlasqueue.jobs AS job LEFT JOIN atlasqueue.queues ON queues.tenant = job.tenant AND queues.queue = job.queue
  LEFT JOIN atlasqueue.job_groups ON job_groups.tenant = job.tenant AND job_groups.queue = job.queue AND job_groups.group_key = job.group_key
  WHERE job.id = $1::uuid AND job.tenant = $2;
