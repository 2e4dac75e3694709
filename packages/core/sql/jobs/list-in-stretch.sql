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
-- $12 stretch_jobs_max
-- $13 bytes_max
-- $14 patterns
-- $15 read_jobs
-- $16 tag
WITH RECURSIVE candidates AS MATERIALIZED (
    SELECT id FROM (
      SELECT id, tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND (cardinality($5::text[]) = 0 OR status = ANY($5::text[]))
    AND ($6 = '' OR group_key = $6) AND ($8 = '' OR error_fingerprint = $8) AND ($10 = '' OR (worker_id = $10 AND status = 'running')) AND ($16 = '' OR tags @> ARRAY[$16]) AS found FROM atlasqueue.jobs
      WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY id DESC LIMIT $12::int) AS stretch WHERE found OFFSET $11::int LIMIT $15::int
  ), page AS MATERIALIZED (
    SELECT id FROM candidates WHERE cardinality($14::text[]) = 0 OR (
      SELECT payload::text ILIKE ANY ($14::text[]) OR last_error ILIKE ANY ($14::text[]) OR result::text ILIKE ANY ($14::text[])
      FROM atlasqueue.jobs WHERE jobs.id = candidates.id)
    LIMIT $7::int
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
    FROM weighed, in_order WHERE weighed.bytes < $13::int AND nth < cardinality(keys)
  ), fitting AS MATERIALIZED (
    SELECT keys[nth] AS id, bytes FROM weighed, in_order WHERE nth > 0
  )
  SELECT jobs.*, ends.last, ends.skipped, ends.read, ends.bytes, ends.cut, false AS too_many FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) = $7::int THEN NULL
                WHEN (SELECT count(*) FROM candidates) = $15::int THEN (SELECT min(id::text) FROM candidates)
                ELSE (SELECT id::text FROM atlasqueue.jobs WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY jobs.id DESC OFFSET $12::int - 1 LIMIT 1)
           END AS last,
      CASE WHEN $11::int = 0 OR EXISTS (SELECT FROM page) THEN $11::int
           ELSE (SELECT count(*)::int FROM (
      SELECT id, tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND (cardinality($5::text[]) = 0 OR status = ANY($5::text[]))
    AND ($6 = '' OR group_key = $6) AND ($8 = '' OR error_fingerprint = $8) AND ($10 = '' OR (worker_id = $10 AND status = 'running')) AND ($16 = '' OR tags @> ARRAY[$16]) AS found FROM atlasqueue.jobs
      WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY id DESC LIMIT $12::int) AS stretch WHERE found) END AS skipped,
      (SELECT count(*)::int FROM candidates) AS read,
      (SELECT coalesce(max(bytes), 0)::float8 FROM fitting) AS bytes, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut
  ) AS ends LEFT JOIN (SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, retention_seconds, result_ttl_seconds, created_at, run_at, kept_until, expires_at, unique_until, started_at, lease_token, ready_at, due_at, dead_at, group_seq, updated_at, finished_at, locked_until, attempts, worker_id, status, dead_reason, active_group_key, error_fingerprint, waits_for, has_steps, has_children, last_error, progress::text AS progress, result::text AS result, group_key, unique_key, tags, backoff, traceparent, tracestate, flow_id, payload::text AS payload FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting))) AS jobs ON true
  ORDER BY jobs.id DESC;
