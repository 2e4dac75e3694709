-- $1 ids
SELECT jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.status, jobs.priority, jobs.attempts, jobs.max_attempts, jobs.timeout_seconds, jobs.run_at, jobs.ready_at, jobs.due_at, jobs.expires_at, jobs.dead_at, jobs.group_seq, jobs.active_group_key, jobs.created_at, jobs.updated_at, jobs.started_at, jobs.finished_at, jobs.kept_until, jobs.lease_token, jobs.locked_until, jobs.worker_id, jobs.group_key, jobs.tags, jobs.dead_reason, jobs.error_fingerprint, jobs.backoff, jobs.traceparent, jobs.tracestate, jobs.flow_id, jobs.has_children, jobs.waits_for, jobs.has_steps, jobs.unique_key, jobs.unique_until, jobs.retention_seconds, jobs.result_ttl_seconds, group_seq IS NOT DISTINCT FROM 0 AS pending,
         (SELECT true FROM atlasqueue.flow_edges WHERE child = jobs.id LIMIT 1) IS NOT NULL AS waits,
         group_key IS NULL OR (SELECT true FROM atlasqueue.job_groups AS one WHERE one.tenant = jobs.tenant AND one.queue = jobs.queue AND one.group_key = jobs.group_key LIMIT 1) IS NULL
           OR EXISTS (
      SELECT FROM atlasqueue.job_groups AS one WHERE one.tenant = jobs.tenant AND one.queue = jobs.queue AND one.group_key = jobs.group_key AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED) AS group_is_free
  FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]);
