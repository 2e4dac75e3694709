-- $1 ids
-- $2 token_places
-- $3 tokens
WITH held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM held)) FOR NO KEY UPDATE SKIP LOCKED
  ), given AS (
    UPDATE atlasqueue.jobs SET status = 'queued', ready_at = run_at, attempts = attempts - 1, lease_token = NULL, locked_until = NULL, worker_id = NULL, updated_at = now() WHERE jobs.id = ANY(ARRAY(SELECT id FROM free)) AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END
    RETURNING jobs.id, tenant, queue
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running, queued)
    SELECT tenant, queue, -count(*), count(*) FROM given GROUP BY tenant, queue
  )
  SELECT held.id, given.id IS NOT NULL AS given FROM held LEFT JOIN given ON given.id = held.id;
