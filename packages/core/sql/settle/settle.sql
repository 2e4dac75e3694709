-- $1 ids
-- $2 token_places
-- $3 tokens
-- $4 failures
-- $5 results
-- $6 logs
WITH settled AS (
    UPDATE atlasqueue.jobs SET status = coalesce(CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'status' END, 'succeeded'),
                    dead_reason = CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'reason' END, run_at = coalesce(now() + make_interval(secs => (CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'delay' END)::float8), run_at), due_at = now() + make_interval(secs => (CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'delay' END)::float8),
                    dead_at = CASE WHEN (CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'reason' END) IS NOT NULL THEN now() END,
                    finished_at = CASE WHEN (CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'delay' END) IS NULL THEN now() END,
                    active_group_key = CASE WHEN (CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'delay' END) IS NOT NULL THEN active_group_key END,
                    error_fingerprint = CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'fingerprint' END, last_error = CASE WHEN (SELECT $4::text <> '{}') THEN ((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'error' END,
                    result = (CASE WHEN (SELECT $5::text <> '{}') THEN ((SELECT $5::text::jsonb) ->> jobs.id::text) END)::json, updated_at = now(), locked_until = NULL
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END
    RETURNING jobs.id, tenant, queue, attempts, worker_id, started_at, run_at, dead_reason, last_error,
              has_children AND status <> 'failed' AS has_children, nullif(status, 'succeeded') AS failed_as
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM settled WHERE has_children
    RETURNING key::uuid AS job_id
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running, succeeded, failed, dead)
    SELECT tenant, queue, -count(*), count(*) - count(failed_as), count(*) FILTER (WHERE failed_as = 'failed'), count(*) FILTER (WHERE failed_as = 'dead') FROM settled GROUP BY tenant, queue
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, error, logs)
    SELECT tenant, id, attempts, worker_id, started_at, now(), CASE WHEN failed_as IS NULL THEN 'succeeded' ELSE 'failed' END, last_error, (CASE WHEN (SELECT $6::text <> '{}') THEN ((SELECT $6::text::jsonb) -> id::text) END)::json
    FROM settled WHERE (SELECT $4::text <> '{}' OR $6::text <> '{}') AND (failed_as IS NOT NULL OR (CASE WHEN (SELECT $6::text <> '{}') THEN ((SELECT $6::text::jsonb) -> id::text) END) IS NOT NULL)
  )
  SELECT json_agg(input.id) AS refused, (SELECT json_agg(job_id) FROM noted_parents) AS parents, (
    SELECT json_agg(json_build_object('id', id, 'status', failed_as, 'run_at', run_at, 'dead_reason', dead_reason))
    FROM settled WHERE (SELECT $4::text <> '{}') AND failed_as IS NOT NULL) AS failed
  FROM unnest($1::uuid[], $2::int[]) AS input(id, token)
  WHERE (SELECT count(*) FROM settled) < cardinality($1::uuid[]) AND input.id NOT IN (SELECT id FROM settled);
