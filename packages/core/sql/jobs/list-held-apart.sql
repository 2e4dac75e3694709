-- $1 below
-- $2 tenant
-- $3 queue
-- $4 type
-- $5 statuses
-- $6 group
-- $7 jobs_max
-- $8 fingerprint
-- $9 above
-- $10 worker
-- $11 skip
-- $12 held_apart
-- $13 tag
WITH RECURSIVE few AS MATERIALIZED ((SELECT id FROM atlasqueue.jobs WHERE due_at IS NOT NULL AND tenant = $2 AND queue BETWEEN $3 AND coalesce(nullif($3, ''), '~') AND $12::text[] && '{scheduled,failed}' LIMIT 100001) UNION ALL (SELECT id FROM atlasqueue.jobs WHERE group_seq IS NOT NULL AND tenant = $2 AND queue BETWEEN $3 AND coalesce(nullif($3, ''), '~') AND $12::text[] && '{blocked}' LIMIT 100001) UNION ALL (SELECT id FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $2 AND queue BETWEEN $3 AND coalesce(nullif($3, ''), '~') AND $12::text[] && '{queued}' LIMIT 100001) UNION ALL (SELECT id FROM atlasqueue.jobs WHERE dead_at IS NOT NULL AND $12::text[] && '{dead}' LIMIT 100001) UNION ALL (SELECT unnest(job_ids) AS id FROM atlasqueue.claims WHERE true AND $12::text[] && '{running}' LIMIT 100001)
    UNION ALL (SELECT id FROM atlasqueue.jobs WHERE $13 <> '' AND tags @> ARRAY[$13] AND tenant = $2 LIMIT 100001)), page AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM few WHERE id < $1::uuid AND id > $9::text::uuid AND (SELECT count(*) FROM few) <= 100000)) AND tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND (cardinality($5::text[]) = 0 OR status = ANY($5::text[]))
    AND ($6 = '' OR group_key = $6) AND ($8 = '' OR error_fingerprint = $8) AND ($10 = '' OR (worker_id = $10 AND status = 'running')) AND ($13 = '' OR tags @> ARRAY[$13])
    ORDER BY id DESC OFFSET $11::int LIMIT $7::int
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
  SELECT jobs.*, NULL AS last, 0 AS skipped, 0 AS read, ends.too_many, 0 AS bytes, ends.cut FROM (
    SELECT count(*) > 100000 AS too_many, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut FROM few
  ) AS ends LEFT JOIN (SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, retention_seconds, result_ttl_seconds, created_at, run_at, kept_until, expires_at, unique_until, started_at, lease_token, ready_at, due_at, dead_at, group_seq, updated_at, finished_at, locked_until, attempts, worker_id, status, dead_reason, active_group_key, error_fingerprint, waits_for, has_steps, has_children, last_error, progress::text AS progress, result::text AS result, group_key, unique_key, tags, backoff, traceparent, tracestate, flow_id, payload::text AS payload FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting))) AS jobs ON true
  ORDER BY jobs.id DESC;
