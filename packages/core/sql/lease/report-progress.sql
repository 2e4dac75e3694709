-- $1 ids
-- $2 token_places
-- $3 tokens
-- $4 progress
WITH held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM held)) FOR NO KEY UPDATE SKIP LOCKED
  ), reported AS (
    UPDATE atlasqueue.jobs SET progress = ((SELECT $4::text::jsonb) -> jobs.id::text)::json
    WHERE jobs.id = ANY(ARRAY(SELECT id FROM free)) AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
  )
  SELECT id FROM held WHERE id NOT IN (SELECT id FROM free);
