-- $1 ids
-- $2 token_places
-- $3 tokens
WITH 
   settled AS (
    UPDATE atlasqueue.jobs SET status = 'succeeded', finished_at = now(), updated_at = now(), locked_until = NULL, last_error = NULL,
                    active_group_key = NULL, result = NULL
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END
    RETURNING jobs.id, tenant, queue, has_children 
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM settled WHERE has_children
    RETURNING key::uuid AS job_id
  ) , counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running, succeeded)
    SELECT tenant, queue, -count(*), count(*) FROM settled GROUP BY tenant, queue
  )
  SELECT json_agg(input.id) AS refused, (SELECT json_agg(job_id) FROM noted_parents) AS parents FROM unnest($1::uuid[], $2::int[]) AS input(id, token)
  WHERE (SELECT count(*) FROM settled) < cardinality($1::uuid[]) AND input.id NOT IN (SELECT id FROM settled);
