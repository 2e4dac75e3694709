-- $1 ids
-- $2 token_places
-- $3 tokens
WITH 
  held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM held)) AND (group_key IS NULL OR EXISTS (
      SELECT FROM atlasqueue.job_groups AS one WHERE one.tenant = jobs.tenant AND one.queue = jobs.queue AND one.group_key = jobs.group_key AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED)) FOR NO KEY UPDATE SKIP LOCKED
  ), settled AS (
    UPDATE atlasqueue.jobs SET status = 'succeeded', finished_at = now(), updated_at = now(), locked_until = NULL, last_error = NULL,
                    active_group_key = NULL, result = NULL
    WHERE jobs.id = ANY(ARRAY(SELECT id FROM free)) AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
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
