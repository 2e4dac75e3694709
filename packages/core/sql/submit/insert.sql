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
-- $11 backoffs
-- $12 payloads
-- $13 traceparents
-- $14 tracestates
WITH   
  made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, priority, max_attempts, timeout_seconds, backoff, run_at, created_at, updated_at,
                      payload, traceparent, tracestate, status, ready_at, due_at  )
    SELECT id, tenant, queue, type, priority, max_attempts, timeout_seconds,
           CASE WHEN json_typeof(backoff) = 'null' THEN NULL ELSE backoff END, starts_at, now(), now(), payload, traceparent, tracestate,
           
    CASE WHEN starts_at > now() THEN 'scheduled' ELSE 'queued' END,
    CASE WHEN starts_at > now() THEN NULL ELSE starts_at END, CASE WHEN starts_at > now() THEN starts_at END 
    FROM (
  SELECT *, greatest(now(), coalesce(run_at, now() + make_interval(secs => coalesce(delay, 0)))) AS starts_at
  FROM ROWS FROM (
    unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[],
           $6::smallint[], $7::integer[], $8::timestamptz[], $9::float8[], $10::text[]),
    json_array_elements($11::text::json), json_array_elements($12::text::json), unnest($13::text[], $14::text[])
  ) AS input(id, tenant, queue, type, priority, max_attempts, timeout_seconds, run_at, delay, group_key, backoff, payload, traceparent, tracestate)
) AS input 
    
    RETURNING id, tenant, queue, run_at, ready_at, due_at 
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, queued, scheduled)
    SELECT tenant, queue, count(ready_at), count(due_at) FROM made GROUP BY tenant, queue
  )
  SELECT now() AS created_at, NULL AS taken,
         (SELECT json_agg(json_build_object('id', id, 'run_at', run_at)) FROM made WHERE run_at > now()) AS later,
         NULL AS blocked;
