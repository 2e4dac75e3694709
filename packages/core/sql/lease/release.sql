-- $1 ids
-- $2 token_places
-- $3 tokens
-- $4 later
WITH held AS MATERIALIZED (SELECT jobs.id FROM atlasqueue.jobs WHERE jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM held)) FOR NO KEY UPDATE SKIP LOCKED
  ), given AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN $4::text::bool THEN 'scheduled' ELSE 'queued' END,
                    ready_at = CASE WHEN NOT $4::text::bool THEN run_at END,
                    due_at = CASE WHEN $4::text::bool THEN now() + least(greatest(now() - run_at, '1 second'), '30 seconds') END,
                    attempts = attempts - 1, lease_token = NULL, locked_until = NULL, worker_id = NULL, updated_at = now()
    WHERE jobs.id = ANY(ARRAY(SELECT id FROM free)) AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END
    RETURNING jobs.id, tenant, queue, 'running' AS from_status, status AS to_status
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM given GROUP BY tenant, queue
  )
  SELECT held.id, given.id IS NOT NULL AS given FROM held LEFT JOIN given ON given.id = held.id;
