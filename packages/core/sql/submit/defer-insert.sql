-- $1 ids
-- $2 tenants
-- $3 queues
-- $4 types
-- $5 priorities
-- $6 max_attempts
-- $7 timeout_seconds
-- $8 run_at
-- $9 delay_seconds
-- $10 groups
-- $11 terms
-- $12 payloads
-- $13 traceparents
-- $14 tracestates
-- $15 keys
-- $16 request_hashes
-- $17 key_ttl_seconds
-- $18 unique_keys
-- $19 on_conflicts
-- $20 window_seconds
WITH queue_defaults AS MATERIALIZED (
    SELECT tenant AS of_tenant, queue AS of_queue, defaults FROM atlasqueue.queues
    WHERE defaults IS NOT NULL AND tenant = ANY((SELECT $2::text[])::text[]) AND queue = ANY((SELECT $3::text[])::text[])
  ), asked AS MATERIALIZED (SELECT * FROM (
  SELECT id, coalesce(tenant, ($2::text[])[1]) AS tenant, coalesce(queue, ($3::text[])[1]) AS queue, coalesce(type, ($4::text[])[1]) AS type, coalesce(priority, ($5::smallint[])[1]) AS priority,
         
         coalesce(max_attempts, (defaults ->> 'max_attempts')::smallint, 5) AS max_attempts,
         coalesce(timeout_seconds, (defaults ->> 'timeout_seconds')::integer) AS timeout_seconds,
         coalesce(terms -> 'backoff', defaults -> 'backoff') AS backoff,
         coalesce(terms ->> 'retention_seconds', defaults ->> 'retention_seconds')::integer AS retention_seconds,
         coalesce(terms ->> 'result_ttl_seconds', defaults ->> 'result_ttl_seconds')::integer AS result_ttl_seconds,
         (terms ->> 'tags')::text[] AS tags, now() + make_interval(secs => (terms ->> 'expires_in')::float8) AS expires_at, group_key, payload, traceparent, tracestate,
         greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
  FROM ROWS FROM (
    unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
           $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
    json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[])
  ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, group_key, terms, payload, traceparent, tracestate)
  LEFT JOIN queue_defaults ON of_tenant = coalesce(tenant, ($2::text[])[1]) AND of_queue = coalesce(queue, ($3::text[])[1])
) AS input), made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, tags, expires_at, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, status, group_seq, group_key)
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, tags, expires_at,
           starts_at, now(), now(), payload, traceparent, tracestate, 'blocked', 0, group_key FROM asked
    RETURNING tenant, queue
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, blocked)
    SELECT tenant, queue, count(*) FROM made GROUP BY tenant, queue
  ), admissions AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    SELECT 'admit', tenant, id::text,
           CASE WHEN group_key IS NOT NULL THEN 'group ' || asked.queue || E'\n' || asked.group_key
                WHEN unique_key IS NOT NULL THEN 'unique ' || queue || E'\n' || unique_key ELSE 'key ' || key END,
           jsonb_strip_nulls(jsonb_build_object(
             'idempotency_key', key, 'request_hash', CASE WHEN key IS NOT NULL THEN hash END,
             'key_ttl_seconds', CASE WHEN key IS NOT NULL THEN $17::float8 END,
             'unique_key', unique_key, 'on_conflict', on_conflict, 'window_seconds', window_seconds))
    FROM asked JOIN unnest($1::uuid[], $15::text[], $16::text[], $18::text[], $19::text[], $20::float8[]) WITH ORDINALITY
      AS wants(id, key, hash, unique_key, on_conflict, window_seconds, place) USING (id)
    ORDER BY place
  )
  SELECT id, now() AS created_at, CASE WHEN starts_at > now() THEN starts_at END AS run_at,
         (SELECT json_agg(queue_defaults) FROM queue_defaults) AS defaults FROM asked;
