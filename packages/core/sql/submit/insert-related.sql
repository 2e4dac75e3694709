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
-- $15 refs
-- $16 policies
-- $17 flow_ids
-- $18 flow_places
-- $19 spawned_by
-- $20 parents
-- $21 waits
-- $22 postponed
-- $23 step_of
-- $24 key
-- $25 hash
-- $26 ttl
-- $27 makes
-- $28 names
-- $29 unique_key
-- $30 seen
-- $31 version
-- $32 window_seconds
-- $33 writes
-- $34 reason
WITH queue_defaults AS MATERIALIZED (
    SELECT tenant AS of_tenant, queue AS of_queue, defaults FROM atlasqueue.queues
    WHERE defaults IS NOT NULL AND tenant = ANY((SELECT $2::text[])::text[]) AND queue = ANY((SELECT $3::text[])::text[])
  ), asked AS MATERIALIZED (
    SELECT id, coalesce(tenant, ($2::text[])[1]) AS tenant, coalesce(queue, ($3::text[])[1]) AS queue, coalesce(type, ($4::text[])[1]) AS type, coalesce(priority, ($5::smallint[])[1]) AS priority,
      
         coalesce(max_attempts, (defaults ->> 'max_attempts')::smallint, 5) AS max_attempts,
         coalesce(timeout_seconds, (defaults ->> 'timeout_seconds')::integer) AS timeout_seconds,
         coalesce(terms -> 'backoff', defaults -> 'backoff') AS backoff,
         coalesce(terms ->> 'retention_seconds', defaults ->> 'retention_seconds')::integer AS retention_seconds,
         coalesce(terms ->> 'result_ttl_seconds', defaults ->> 'result_ttl_seconds')::integer AS result_ttl_seconds,
         (terms ->> 'tags')::text[] AS tags, now() + make_interval(secs => (terms ->> 'expires_in')::float8) AS expires_at, group_key, payload, traceparent, tracestate,
      ref, on_parent_failure, flow_id, flow_place, spawned_by, parents, waits, step_of, key, hash, ttl, makes, names, unique_key, seen, version, window_seconds, writes, reason, place,
      greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
    FROM ROWS FROM (
      unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
             $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
      json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[]),
      unnest($15::text[], $16::text[], $17::uuid[], $18::integer[], $19::uuid[]), json_array_elements($20::text::json), unnest($21::boolean[]),
      unnest($23::uuid[], $24::text[], $25::text[], $26::float8[], $27::boolean[], $28::uuid[], $29::text[], $30::uuid[], $31::text[], $32::float8[], $33::boolean[], $34::text[])
    ) WITH ORDINALITY AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, group_key, terms, payload, traceparent, tracestate,
      ref, on_parent_failure, flow_id, flow_place, spawned_by, parents, waits, step_of, key, hash, ttl, makes, names, unique_key, seen, version, window_seconds, writes, reason, place)
    LEFT JOIN queue_defaults ON of_tenant = coalesce(tenant, ($2::text[])[1]) AND of_queue = coalesce(queue, ($3::text[])[1])
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ), holders AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT seen FROM asked WHERE seen IS NOT NULL))
      AND (id, xmin::text) IN (SELECT seen, version FROM asked WHERE seen IS NOT NULL)
    FOR UPDATE SKIP LOCKED
  ), new_keys AS (
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at, is_alias)
    SELECT tenant, key, decode(hash, 'hex'), names, now() + make_interval(secs => ttl), CASE WHEN NOT makes THEN true END
    FROM asked WHERE key IS NOT NULL AND (SELECT count(*) FROM holders) >= 0 ORDER BY tenant COLLATE "C", key COLLATE "C"
    ON CONFLICT DO NOTHING RETURNING job_id
  ), makes AS NOT MATERIALIZED (
    SELECT * FROM asked WHERE makes AND (seen IS NULL OR seen IN (SELECT id FROM holders))
  ), 
  candidates AS MATERIALIZED (SELECT id, tenant, queue, group_key, place FROM makes
    WHERE group_key IS NOT NULL AND (SELECT count(*) FROM new_keys) >= 0 AND NOT waits), postponed AS MATERIALIZED (
    SELECT * FROM candidates WHERE $22::text::boolean OR (
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
  ), edges AS MATERIALIZED (
    SELECT (parent ->> 'id')::uuid AS parent, id AS child, tenant, on_parent_failure FROM asked, json_array_elements(parents) AS parent WHERE waits
  ), earlier AS MATERIALIZED (
    SELECT DISTINCT parent AS id, tenant FROM edges WHERE parent NOT IN (SELECT id FROM asked)
  ), found AS MATERIALIZED (
    SELECT id, status FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM earlier)) AND (id, tenant) IN (SELECT id, tenant FROM earlier)
    ORDER BY id FOR UPDATE SKIP LOCKED
  ), giving AS MATERIALIZED (SELECT seen FROM makes WHERE seen IS NOT NULL), earlier_jobs AS (
    UPDATE atlasqueue.jobs SET has_children = CASE WHEN id IN (SELECT id FROM found) THEN true ELSE has_children END,
                    unique_key = CASE WHEN id NOT IN (SELECT seen FROM giving) THEN unique_key END,
                    unique_until = CASE WHEN id NOT IN (SELECT seen FROM giving) THEN unique_until END
    WHERE id = ANY(ARRAY(SELECT id FROM found UNION SELECT seen FROM giving))
    RETURNING id
  ), ties AS MATERIALIZED (
    SELECT parent, child, tenant, on_parent_failure, CASE
             WHEN parent IN (SELECT id FROM found WHERE status = 'succeeded') THEN 'over'
             WHEN parent IN (SELECT id FROM found WHERE status IN ('dead', 'cancelled')) THEN CASE on_parent_failure
               WHEN 'run' THEN 'over' WHEN 'cancel' THEN 'failed' ELSE 'open' END
             ELSE 'open' END AS tie
    FROM edges
  ), noted AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key)
    SELECT 'recheck_child', tenant, child::text FROM ties GROUP BY child, tenant HAVING bool_and(tie = 'over') OR bool_or(tie = 'failed')
  ), the_jobs AS (
    INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, ref, on_parent_failure, parents)
    SELECT tenant, id, flow_id, flow_place, ref, on_parent_failure, CASE WHEN spawned_by IS NULL THEN parents ELSE (
             jsonb_build_array(jsonb_build_object('ref', spawned_by, 'id', spawned_by)) || parents::jsonb)::json END
    FROM makes WHERE flow_id IS NOT NULL
  ), the_edges AS (
    INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure, failed)
    SELECT tenant, parent, child, on_parent_failure, tie = 'failed' FROM ties WHERE tie <> 'over'
  ), made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, tags, expires_at, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, kept_until, status, ready_at, due_at, group_key, group_seq, active_group_key, unique_key, unique_until, flow_id, has_children)
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, retention_seconds, result_ttl_seconds, tags, expires_at,
           starts_at, now(), now(), payload, traceparent, tracestate, CASE WHEN key IS NOT NULL THEN now() + make_interval(secs => ttl) END,
           CASE WHEN waits OR may_run IS FALSE THEN 'blocked' WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END AS status,
           CASE WHEN waits OR may_run IS FALSE OR starts_at > now() THEN NULL ELSE starts_at END AS ready_at,
           CASE WHEN NOT (waits OR may_run IS FALSE) AND starts_at > now() THEN starts_at END AS due_at, group_key,
           CASE WHEN waits OR may_run IS FALSE THEN coalesce(seq, 0) END AS group_seq, CASE WHEN may_run AND is_strict THEN group_key END AS active_group_key,
           unique_key, now() + make_interval(secs => window_seconds), flow_id, CASE WHEN id IN (SELECT parent FROM edges) THEN true END
    FROM makes LEFT JOIN seated USING (id) WHERE (SELECT count(*) FROM earlier_jobs) >= 0 AND (SELECT count(*) FROM new_keys) >= 0 ORDER BY tenant COLLATE "C", queue COLLATE "C", unique_key COLLATE "C", place
    RETURNING id, tenant, queue, run_at, status
  ), replaced AS (
    UPDATE atlasqueue.jobs SET type = content.type, priority = content.priority, max_attempts = content.max_attempts,
                    timeout_seconds = content.timeout_seconds, backoff = content.backoff, tags = content.tags, expires_at = content.expires_at,
                    retention_seconds = content.retention_seconds, result_ttl_seconds = content.result_ttl_seconds,
                    payload = content.payload, traceparent = content.traceparent, tracestate = content.tracestate,
                    run_at = content.starts_at,
                    status = CASE WHEN jobs.status = 'blocked' THEN 'blocked' WHEN content.starts_at > now() THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN jobs.status <> 'blocked' AND NOT content.starts_at > now() THEN coalesce(ready_at, now()) END,
                    due_at = CASE WHEN jobs.status <> 'blocked' AND content.starts_at > now() THEN content.starts_at END,
                    attempts = 0, started_at = NULL, worker_id = NULL, lease_token = NULL, last_error = NULL, progress = NULL,
                    updated_at = now()
    FROM asked AS content JOIN holders ON holders.id = content.seen
    WHERE content.writes AND jobs.id = holders.id AND jobs.id = ANY(ARRAY(SELECT seen FROM asked WHERE writes))
    RETURNING jobs.id, jobs.tenant, jobs.queue, holders.status AS was, jobs.status, jobs.run_at, jobs.ready_at, jobs.due_at,
              jobs.updated_at
  ), moved AS (
    SELECT tenant, queue, NULL AS from_status, status AS to_status FROM made
    UNION ALL SELECT tenant, queue, was, status FROM replaced
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM moved GROUP BY tenant, queue
  )
  SELECT now() AS created_at, (SELECT json_agg(queue_defaults) FROM queue_defaults) AS defaults, (SELECT json_agg(json_build_object('id', id, 'status', status, 'run_at', run_at)) FROM made) AS made,
         (SELECT json_agg(json_build_object('id', id, 'was', was, 'status', status, 'run_at', run_at, 'ready_at', ready_at,
                                            'due_at', due_at, 'updated_at', updated_at)) FROM replaced) AS replaced,
         (CASE WHEN (SELECT count(key) FROM asked) <> (SELECT count(*) FROM new_keys)
           OR (SELECT count(DISTINCT seen) FROM asked) <> (SELECT count(*) FROM holders) OR (SELECT count(*) FROM earlier) <> (SELECT count(*) FROM found) THEN 'keys were taken meanwhile, and nothing was stored: ' || now() ELSE '0' END)::int AS refused;
