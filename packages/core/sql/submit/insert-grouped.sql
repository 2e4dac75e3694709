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
-- $18 strict
-- $19 postponed
WITH queue_defaults AS MATERIALIZED (
    SELECT tenant AS of_tenant, queue AS of_queue, defaults FROM atlasqueue.queues
    WHERE defaults IS NOT NULL AND tenant = ANY((SELECT $2::text[])::text[]) AND queue = ANY((SELECT $3::text[])::text[])
  ), keyed AS MATERIALIZED (
    SELECT id, coalesce(tenant, ($2::text[])[1]) AS tenant, key, hash
    FROM unnest($1::uuid[], $2::text[], $15::text[], $16::text[]) AS keyed(id, tenant, key, hash)
    WHERE key IS NOT NULL AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at)
    SELECT tenant, key, decode(hash, 'hex'), id, now() + make_interval(secs => $17::float8) FROM keyed ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING
    RETURNING job_id
  ), taken AS MATERIALIZED (
    SELECT id FROM keyed WHERE id NOT IN (SELECT job_id FROM new_keys)
  ), 
  candidates AS MATERIALIZED (
    SELECT id, coalesce(tenant, ($2::text[])[1]) AS tenant, coalesce(queue, ($3::text[])[1]) AS queue, group_key, place
    FROM unnest($1::uuid[], $2::text[], $3::text[], $10::text[]) WITH ORDINALITY AS member(id, tenant, queue, group_key, place)
    WHERE group_key IS NOT NULL AND (SELECT count(*) FROM taken) >= 0), postponed AS MATERIALIZED (
    SELECT * FROM candidates WHERE $19::text::boolean OR (
      SELECT true FROM atlasqueue.outbox WHERE outbox.tenant = candidates.tenant AND lane = 'group ' || candidates.queue || E'\n' || candidates.group_key LIMIT 1)
  ), admissions AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    SELECT 'admit', tenant, id::text, 'group ' || postponed.queue || E'\n' || postponed.group_key, '{"counted": true}' FROM postponed ORDER BY place
  ), 
  members AS MATERIALIZED (SELECT * FROM candidates WHERE id NOT IN (SELECT id FROM postponed)), joined AS (
    INSERT INTO atlasqueue.job_groups AS known (tenant, queue, group_key, last_seq, admitted, heads)
    SELECT members.tenant, members.queue, group_key, count(*), least(count(*), least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = members.tenant AND queues.queue = members.queue), 1))),
           (array_agg(id ORDER BY place))[1 : least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = members.tenant AND queues.queue = members.queue), 1))]
    FROM members GROUP BY members.tenant, members.queue, group_key ORDER BY members.tenant COLLATE "C", members.queue COLLATE "C", members.group_key COLLATE "C"
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET
      last_seq = known.last_seq + excluded.last_seq,
      admitted = least(excluded.last_seq, CASE WHEN known.overdue_at IS NULL THEN greatest(0, least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = known.tenant AND queues.queue = known.queue), 1)) - cardinality(known.heads)) ELSE 0 END),
      heads = known.heads || excluded.heads[1 : CASE WHEN known.overdue_at IS NULL THEN greatest(0, least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = known.tenant AND queues.queue = known.queue), 1)) - cardinality(known.heads)) ELSE 0 END]
    RETURNING tenant, queue, group_key, last_seq, admitted
  ), seats_taken AS MATERIALIZED (
    SELECT id, last_seq - count(*) OVER same_group + row_number() OVER (same_group ORDER BY place) AS seq,
           row_number() OVER (same_group ORDER BY place) <= admitted AS may_run, least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = members.tenant AND queues.queue = members.queue), 1)) = 1 AS is_strict
    FROM members JOIN joined USING (tenant, queue, group_key)
    WINDOW same_group AS (PARTITION BY tenant, queue, group_key)
  ), seated AS MATERIALIZED (
    SELECT id, seq, may_run, is_strict FROM seats_taken UNION ALL SELECT id, 0, false, false FROM postponed
  ), made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, tags, expires_at, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, kept_until, status, ready_at, due_at, group_key, group_seq, active_group_key)
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, tags, expires_at,
           starts_at, now(), now(), payload, traceparent, tracestate, CASE WHEN key IS NOT NULL THEN now() + make_interval(secs => $17::float8) END,
           CASE WHEN may_run IS FALSE THEN 'blocked' WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END AS status,
           CASE WHEN may_run IS FALSE OR starts_at > now() THEN NULL ELSE starts_at END AS ready_at,
           CASE WHEN NOT (may_run IS FALSE) AND starts_at > now() THEN starts_at END AS due_at, group_key,
           CASE WHEN may_run IS FALSE THEN coalesce(seq, 0) END AS group_seq, CASE WHEN may_run AND is_strict THEN group_key END AS active_group_key
    FROM (
  SELECT id, coalesce(tenant, ($2::text[])[1]) AS tenant, coalesce(queue, ($3::text[])[1]) AS queue, coalesce(type, ($4::text[])[1]) AS type, coalesce(priority, ($5::smallint[])[1]) AS priority,
         
         coalesce(max_attempts, (defaults ->> 'max_attempts')::smallint, 5) AS max_attempts,
         coalesce(timeout_seconds, (defaults ->> 'timeout_seconds')::integer) AS timeout_seconds,
         coalesce(terms -> 'backoff', defaults -> 'backoff') AS backoff,
         coalesce(terms ->> 'retention_seconds', defaults ->> 'retention_seconds')::integer AS retention_seconds,
         coalesce(terms ->> 'result_ttl_seconds', defaults ->> 'result_ttl_seconds')::integer AS result_ttl_seconds,
         (terms ->> 'tags')::text[] AS tags, now() + make_interval(secs => (terms ->> 'expires_in')::float8) AS expires_at, group_key, payload, traceparent, tracestate, key,
         greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
  FROM ROWS FROM (
    unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
           $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
    json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[]), unnest($15::text[])
  ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, group_key, terms, payload, traceparent, tracestate, key)
  LEFT JOIN queue_defaults ON of_tenant = coalesce(tenant, ($2::text[])[1]) AND of_queue = coalesce(queue, ($3::text[])[1])
) AS input LEFT JOIN seated USING (id) WHERE id NOT IN (SELECT id FROM taken)
    RETURNING id, tenant, queue, run_at, ready_at, due_at
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, queued, scheduled, blocked)
    SELECT tenant, queue, count(ready_at), count(due_at), count(*) - count(ready_at) - count(due_at) FROM made GROUP BY tenant, queue
  )
  SELECT now() AS created_at, (SELECT json_agg(id) FROM taken) AS taken, (SELECT json_agg(queue_defaults) FROM queue_defaults) AS defaults,
         (SELECT json_agg(json_build_object('id', id, 'run_at', run_at)) FROM made WHERE run_at > now()) AS later,
         (SELECT json_agg(id) FROM made WHERE ready_at IS NULL AND due_at IS NULL) AS blocked,
         (CASE WHEN $18::text::boolean AND EXISTS (SELECT FROM taken) THEN 'keys were taken meanwhile, and nothing was stored: ' || now() ELSE '0' END)::int AS refused;
