-- $1 tenants
-- $2 keys
SELECT wanted.key, first.request_hash, (
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated, jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.status, jobs.priority, jobs.attempts, jobs.max_attempts, jobs.timeout_seconds, jobs.run_at, jobs.ready_at, jobs.due_at, jobs.dead_at, jobs.group_seq, jobs.active_group_key, jobs.created_at, jobs.updated_at, jobs.started_at, jobs.finished_at, jobs.kept_until, jobs.lease_token, jobs.locked_until, jobs.worker_id, jobs.group_key, jobs.dead_reason, jobs.error_fingerprint, jobs.backoff, jobs.traceparent, jobs.tracestate, jobs.flow_id, jobs.has_children, jobs.waits_for, jobs.has_steps
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, key) CROSS JOIN LATERAL (
    SELECT outbox.key AS job_id, payload ->> 'request_hash' AS request_hash FROM atlasqueue.outbox
    WHERE outbox.tenant = wanted.tenant AND payload ->> 'idempotency_key' = wanted.key ORDER BY id LIMIT 1) AS first
  JOIN atlasqueue.jobs ON jobs.id = first.job_id::uuid;
