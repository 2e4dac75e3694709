-- $1 key_tenants
-- $2 keys
-- $3 unique_tenants
-- $4 unique_queues
-- $5 unique_keys
SELECT keys.tenant AS of_tenant, NULL AS of_queue, keys.key AS of_key, encode(keys.request_hash, 'hex') AS request_hash,
         (keys.expires_at <= now() OR jobs.id IS NULL) AS spent, NULL::boolean AS window_over, NULL AS version,
         (
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated, jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.priority, jobs.max_attempts, jobs.timeout_seconds, jobs.retention_seconds, jobs.result_ttl_seconds, jobs.created_at, jobs.run_at, jobs.kept_until, jobs.expires_at, jobs.unique_until, jobs.started_at, jobs.lease_token, jobs.ready_at, jobs.due_at, jobs.dead_at, jobs.group_seq, jobs.updated_at, jobs.finished_at, jobs.locked_until, jobs.attempts, jobs.worker_id, jobs.status, jobs.dead_reason, jobs.active_group_key, jobs.error_fingerprint, jobs.waits_for, jobs.has_steps, jobs.has_children, jobs.group_key, jobs.unique_key, jobs.tags, jobs.backoff, jobs.traceparent, jobs.tracestate, jobs.flow_id
  FROM (SELECT DISTINCT * FROM unnest((SELECT $1::text[])::text[], (SELECT $2::text[])::text[]) AS wanted(tenant, key)) AS wanted
  CROSS JOIN LATERAL (
    SELECT * FROM atlasqueue.idempotency_keys AS one WHERE one.tenant = wanted.tenant AND one.key = wanted.key OFFSET 0) AS keys
  LEFT JOIN atlasqueue.jobs ON jobs.id = keys.job_id
  UNION ALL
  SELECT jobs.tenant, jobs.queue, jobs.unique_key, NULL, false, jobs.unique_until <= now(), jobs.version, (
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated, jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.priority, jobs.max_attempts, jobs.timeout_seconds, jobs.retention_seconds, jobs.result_ttl_seconds, jobs.created_at, jobs.run_at, jobs.kept_until, jobs.expires_at, jobs.unique_until, jobs.started_at, jobs.lease_token, jobs.ready_at, jobs.due_at, jobs.dead_at, jobs.group_seq, jobs.updated_at, jobs.finished_at, jobs.locked_until, jobs.attempts, jobs.worker_id, jobs.status, jobs.dead_reason, jobs.active_group_key, jobs.error_fingerprint, jobs.waits_for, jobs.has_steps, jobs.has_children, jobs.group_key, jobs.unique_key, jobs.tags, jobs.backoff, jobs.traceparent, jobs.tracestate, jobs.flow_id
  FROM (SELECT DISTINCT * FROM unnest((SELECT $3::text[])::text[], (SELECT $4::text[])::text[], (SELECT $5::text[])::text[]) AS wanted(tenant, queue, key)) AS wanted
  CROSS JOIN LATERAL (
    SELECT *, xmin::text AS version FROM atlasqueue.jobs AS one
    WHERE one.tenant = wanted.tenant AND one.queue = wanted.queue AND one.unique_key = wanted.key OFFSET 0) AS jobs;
