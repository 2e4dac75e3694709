-- $1 ids
SELECT jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.priority, jobs.max_attempts, jobs.timeout_seconds, jobs.retention_seconds, jobs.result_ttl_seconds, jobs.created_at, jobs.run_at, jobs.kept_until, jobs.expires_at, jobs.unique_until, jobs.started_at, jobs.lease_token, jobs.ready_at, jobs.due_at, jobs.dead_at, jobs.group_seq, jobs.updated_at, jobs.finished_at, jobs.locked_until, jobs.attempts, jobs.worker_id, jobs.status, jobs.dead_reason, jobs.active_group_key, jobs.error_fingerprint, jobs.waits_for, jobs.has_steps, jobs.has_children, jobs.group_key, jobs.unique_key, jobs.tags, jobs.backoff, jobs.traceparent, jobs.tracestate, jobs.flow_id, group_seq IS NOT DISTINCT FROM 0 AS pending,
         (SELECT true FROM atlasqueue.flow_edges WHERE child = jobs.id LIMIT 1) IS NOT NULL AS waits,
         group_key IS NULL OR (SELECT true FROM atlasqueue.job_groups AS one WHERE one.tenant = jobs.tenant AND one.queue = jobs.queue AND one.group_key = jobs.group_key LIMIT 1) IS NULL
           OR EXISTS (
      SELECT FROM atlasqueue.job_groups AS one WHERE one.tenant = jobs.tenant AND one.queue = jobs.queue AND one.group_key = jobs.group_key AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED) AS group_is_free
  FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]);
