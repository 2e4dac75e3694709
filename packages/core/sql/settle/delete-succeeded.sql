-- $1 ids
-- $2 token_places
-- $3 tokens
WITH deleted AS (
    DELETE FROM atlasqueue.jobs
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END AND NOT keep_succeeded
      AND flow_id IS NULL AND has_children IS NOT TRUE AND has_steps IS NOT TRUE AND unique_key IS NULL
    RETURNING jobs.id, tenant, queue
  ), job_attempts_gone AS (
    DELETE FROM atlasqueue.job_attempts WHERE job_id = ANY(ARRAY(SELECT id FROM deleted))
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running)
    SELECT tenant, queue, -count(*) FROM deleted GROUP BY tenant, queue
  )
  SELECT json_agg(input.id) AS refused FROM unnest($1::uuid[], $2::int[]) AS input(id, token)
  WHERE (SELECT count(*) FROM deleted) < cardinality($1::uuid[]) AND input.id NOT IN (SELECT id FROM deleted);
