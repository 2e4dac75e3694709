-- $1 tenant
-- $2 queue
-- $3 type
-- $4 before_us
-- $5 before_id
-- $6 jobs_max
-- $7 fingerprint
WITH RECURSIVE page AS MATERIALIZED (
    SELECT id, dead_at FROM (
      (SELECT id, dead_at, tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3)
                          AND ($7 = '' OR error_fingerprint = $7) AS found FROM atlasqueue.jobs WHERE '' IN ($3, $7) AND dead_at IS NOT NULL AND (dead_at, id) < (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) ORDER BY dead_at DESC, id DESC LIMIT 20000)
      UNION ALL (SELECT id, dead_at, tenant = $1 AND ($2 = '' OR queue = $2) AND ($3 = '' OR type = $3)
                          AND ($7 = '' OR error_fingerprint = $7) AS found FROM atlasqueue.jobs WHERE '' NOT IN ($3, $7) AND tenant = $1 AND type = $3 AND error_fingerprint = $7 AND dead_at IS NOT NULL AND (dead_at, id) < (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) ORDER BY dead_at DESC, id DESC LIMIT 20000)
    ) AS stretch WHERE found ORDER BY dead_at DESC, id DESC LIMIT $6::int
  ), 
  in_order AS MATERIALIZED (
    SELECT array_agg(id ORDER BY dead_at DESC, id DESC) AS keys FROM page
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
  SELECT jobs.*, CASE WHEN id IS NOT NULL THEN json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) END AS place, ends.reached, ends.cut FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) < $6::int THEN (
      SELECT json_build_object('dead_us', (extract(epoch FROM dead_at) * 1000000)::float8, 'id', id) FROM (SELECT dead_at, id FROM ((SELECT dead_at, id FROM atlasqueue.jobs WHERE '' IN ($3, $7) AND dead_at IS NOT NULL AND (dead_at, id) < (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) ORDER BY dead_at DESC, id DESC LIMIT 20000)
      UNION ALL (SELECT dead_at, id FROM atlasqueue.jobs WHERE '' NOT IN ($3, $7) AND tenant = $1 AND type = $3 AND error_fingerprint = $7 AND dead_at IS NOT NULL AND (dead_at, id) < (('epoch'::timestamptz + $4::float8 * interval '1 microsecond'), $5::text::uuid) ORDER BY dead_at DESC, id DESC LIMIT 20000)) AS stretch OFFSET 19999 LIMIT 1) AS last) END AS reached,
      (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut
  ) AS ends LEFT JOIN (SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, retention_seconds, result_ttl_seconds, created_at, run_at, kept_until, expires_at, unique_until, started_at, lease_token, ready_at, due_at, dead_at, group_seq, updated_at, finished_at, locked_until, attempts, worker_id, status, dead_reason, active_group_key, error_fingerprint, waits_for, has_steps, has_children, last_error, progress::text AS progress, result::text AS result, group_key, unique_key, tags, backoff, traceparent, tracestate, flow_id, payload::text AS payload FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting)) AND (SELECT dead_at) IS NOT NULL) AS jobs ON true
  ORDER BY jobs.dead_at DESC, jobs.id DESC;
