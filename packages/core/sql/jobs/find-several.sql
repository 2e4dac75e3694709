-- $1 tenant
-- $2 ids
WITH RECURSIVE page AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1
  ), 
  in_order AS MATERIALIZED (
    SELECT array_agg(id ORDER BY id DESC) AS keys FROM page
  ), weighed AS (
    SELECT 0 AS nth, 0::bigint AS bytes
    UNION ALL
    SELECT nth + 1, weighed.bytes + (SELECT 
      CASE WHEN pg_column_compression(payload) IS NULL THEN coalesce(pg_column_size(payload), 0)
           ELSE octet_length(payload::text) END + 
      CASE WHEN pg_column_compression(result) IS NULL THEN coalesce(pg_column_size(result), 0)
           ELSE octet_length(result::text) END + 
      CASE WHEN pg_column_compression(progress) IS NULL THEN coalesce(pg_column_size(progress), 0)
           ELSE octet_length(progress::text) END + 
      CASE WHEN pg_column_compression(last_error) IS NULL THEN coalesce(pg_column_size(last_error), 0)
           ELSE octet_length(last_error::text) END FROM atlasqueue.jobs WHERE id = keys[nth + 1])
    FROM weighed, in_order WHERE weighed.bytes < 4194304 AND nth < cardinality(keys)
  ), fitting AS MATERIALIZED (
    SELECT keys[nth] AS id, bytes FROM weighed, in_order WHERE nth > 0
  )
  SELECT id, tenant, queue, type, status, priority, attempts, max_attempts, timeout_seconds, run_at, ready_at, due_at, dead_at, group_seq, active_group_key, created_at, updated_at, started_at, finished_at, kept_until, lease_token, locked_until, worker_id, group_key, dead_reason, last_error, error_fingerprint, backoff, progress::text AS progress, payload::text AS payload, result::text AS result, traceparent, tracestate, flow_id, has_children, waits_for, has_steps, unique_key, unique_until FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting)) AND tenant = $1 ORDER BY id DESC;
