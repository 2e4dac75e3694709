-- $1 ids
-- $2 token_places
-- $3 tokens
-- $4 verdicts
-- $5 logs
WITH  settled AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'reason') IS NULL THEN 'failed' ELSE 'dead' END,
                    dead_reason = (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'reason'), run_at = coalesce((now() + make_interval(secs => (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'delay')::float8)), run_at), due_at = (now() + make_interval(secs => (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'delay')::float8)),
                    dead_at = CASE WHEN (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'reason') IS NOT NULL THEN now() END,
                    finished_at = CASE WHEN (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'reason') IS NOT NULL THEN now() END,
                    active_group_key = CASE WHEN (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'reason') IS NULL THEN active_group_key END,
                    error_fingerprint = (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'fingerprint'), last_error = (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'error'), result = (((SELECT $4::text::jsonb) -> jobs.id::text) ->> 'result')::json, updated_at = now(), locked_until = NULL
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END
    RETURNING jobs.id, tenant, queue, status, attempts, worker_id, started_at, run_at, dead_reason, last_error, has_children
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running, failed, dead)
    SELECT tenant, queue, -count(*), count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'dead') FROM settled GROUP BY tenant, queue
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (job_id, attempt, worker_id, started_at, finished_at, outcome, error , logs)
    SELECT id, attempts, worker_id, started_at, now(), 'failed', last_error , ((SELECT $5::text::jsonb) -> id::text)::json
    FROM settled
  ), dead AS (
    SELECT id, tenant, has_children FROM settled WHERE status = 'dead'
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM dead WHERE has_children
    RETURNING key::uuid AS job_id
  )
  SELECT id, status, run_at, dead_reason, has_children FROM settled;
