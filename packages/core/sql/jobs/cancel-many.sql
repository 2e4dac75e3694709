-- $1 ids
-- $2 tenant
-- $3 from_statuses
-- $4 with_turn
-- $5 expired
WITH found AS MATERIALIZED (
    SELECT *, group_key IS NOT NULL AND status <> 'blocked' AND status = ANY($3::text[]) AS has_turn
    FROM atlasqueue.jobs WHERE id = ANY((SELECT $1::uuid[])::uuid[]) AND tenant = $2 AND (NOT $5::text::bool OR (expires_at <= now() AND attempts = 0)) FOR UPDATE SKIP LOCKED
  ), open AS MATERIALIZED (
    SELECT * FROM found WHERE status = ANY($3::text[]) AND (NOT has_turn OR $4::text::bool AND EXISTS (
      SELECT FROM atlasqueue.job_groups AS one WHERE one.tenant = found.tenant AND one.queue = found.queue AND one.group_key = found.group_key AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED))
  ), cancelled AS (
    UPDATE atlasqueue.jobs SET status = 'cancelled', ready_at = NULL, due_at = NULL, expires_at = NULL, last_error = CASE WHEN $5::text::bool THEN 'expired' ELSE last_error END, finished_at = now(), updated_at = now(),
                    locked_until = NULL, lease_token = NULL, group_seq = NULL, active_group_key = NULL, waits_for = NULL
    WHERE id = ANY(ARRAY(SELECT id FROM open))
    RETURNING *
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome)
    SELECT tenant, id, attempts, worker_id, started_at, now(), 'cancelled' FROM open WHERE status = 'running'
  ), moved AS (
    SELECT tenant, queue, status AS from_status, 'cancelled' AS to_status FROM open
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM moved GROUP BY tenant, queue
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM open WHERE has_children
    RETURNING key::uuid AS job_id
  )
  SELECT id, type, tenant, queue, group_key, has_children, status AS was, false AS has_turn FROM open
  UNION ALL
  SELECT id, type, tenant, queue, group_key, has_children, status, true FROM found
  WHERE has_turn AND id NOT IN (SELECT id FROM open);
