-- $1 key_tenants
-- $2 keys
-- $3 unique_tenants
-- $4 unique_queues
-- $5 unique_keys
SELECT keys.tenant AS of_tenant, NULL AS of_queue, keys.key AS of_key, encode(keys.request_hash, 'hex') AS request_hash,
         (keys.expires_at <= now() OR jobs.id IS NULL) AS spent, NULL::boolean AS window_over, NULL AS version,
         (
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated, jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.status, jobs.priority, jobs.attempts, jobs.max_attempts, jobs.timeout_seconds, jobs.run_at, jobs.ready_at, jobs.due_at, jobs.expires_at, jobs.dead_at, jobs.group_seq, jobs.active_group_key, jobs.created_at, jobs.updated_at, jobs.started_at, jobs.finished_at, jobs.kept_until, jobs.lease_token, jobs.locked_until, jobs.worker_id, jobs.group_key, jobs.tags, jobs.dead_reason, jobs.error_fingerprint, jobs.backoff, jobs.traceparent, jobs.tracestate, jobs.flow_id, jobs.has_children, jobs.waits_for, jobs.has_steps, jobs.unique_key, jobs.unique_until, jobs.retention_seconds, jobs.result_ttl_seconds
  FROM (SELECT DISTINCT * FROM unnest((SELECT $1::text[])::text[], (SELECT $2::text[])::text[]) AS wanted(tenant, key)) AS wanted
  CROSS JOIN LATERAL (
    SELECT * FROM atlasqueue.idempotency_keys AS one WHERE one.tenant = wanted.tenant AND one.key = wanted.key OFFSET 0) AS keys
  LEFT JOIN atlasqueue.jobs ON jobs.id = keys.job_id
  UNION ALL
  SELECT jobs.tenant, jobs.queue, jobs.unique_key, NULL, false, jobs.unique_until <= now(), jobs.version, (
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated, jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.status, jobs.priority, jobs.attempts, jobs.max_attempts, jobs.timeout_seconds, jobs.run_at, jobs.ready_at, jobs.due_at, jobs.expires_at, jobs.dead_at, jobs.group_seq, jobs.active_group_key, jobs.created_at, jobs.updated_at, jobs.started_at, jobs.finished_at, jobs.kept_until, jobs.lease_token, jobs.locked_until, jobs.worker_id, jobs.group_key, jobs.tags, jobs.dead_reason, jobs.error_fingerprint, jobs.backoff, jobs.traceparent, jobs.tracestate, jobs.flow_id, jobs.has_children, jobs.waits_for, jobs.has_steps, jobs.unique_key, jobs.unique_until, jobs.retention_seconds, jobs.result_ttl_seconds
  FROM (SELECT DISTINCT * FROM unnest((SELECT $3::text[])::text[], (SELECT $4::text[])::text[], (SELECT $5::text[])::text[]) AS wanted(tenant, queue, key)) AS wanted
  CROSS JOIN LATERAL (
    SELECT *, xmin::text AS version FROM atlasqueue.jobs AS one
    WHERE one.tenant = wanted.tenant AND one.queue = wanted.queue AND one.unique_key = wanted.key OFFSET 0) AS jobs;
