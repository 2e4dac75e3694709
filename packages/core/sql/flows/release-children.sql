-- $1 ids
WITH parts AS MATERIALIZED (
    SELECT job_id, cancelled_by FROM atlasqueue.flow_jobs WHERE job_id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
  ), children AS MATERIALIZED (
    SELECT child.*, parts.cancelled_by,
           (SELECT true FROM atlasqueue.flow_edges WHERE flow_edges.child = child.id LIMIT 1) AS waits,
           (SELECT parent FROM atlasqueue.flow_edges WHERE flow_edges.child = child.id AND failed LIMIT 1) AS failed_parent
    FROM parts CROSS JOIN LATERAL (
      SELECT id, status, group_seq, group_key, run_at FROM atlasqueue.jobs WHERE jobs.id = parts.job_id OFFSET 0) AS child
    WHERE status = 'cancelled' OR group_seq = 0
  ), decided AS MATERIALIZED (
    SELECT *, CASE WHEN move = 'cancel' THEN 'cancelled' WHEN move = 'revive' OR group_key IS NOT NULL THEN 'blocked'
                   WHEN run_at > now() THEN 'scheduled' ELSE 'queued' END AS becomes
    FROM (
      SELECT *, CASE WHEN failed_parent IS NOT NULL THEN CASE WHEN status = 'blocked' THEN 'cancel' END
                     WHEN status = 'cancelled' AND cancelled_by IS NULL THEN NULL
                     WHEN waits IS NULL THEN 'release'
                     WHEN status = 'cancelled' THEN 'revive' END AS move
      FROM children) AS child
    WHERE move IS NOT NULL
  ), moved AS (
    UPDATE atlasqueue.jobs SET status = becomes, group_seq = CASE WHEN becomes = 'blocked' THEN 0 END,
                    ready_at = CASE WHEN becomes = 'queued' THEN now() END,
                    due_at = CASE WHEN becomes = 'scheduled' THEN jobs.run_at END,
                    run_at = greatest(jobs.run_at, now()), updated_at = now(),
                    expires_at = CASE WHEN becomes <> 'cancelled' THEN expires_at END,
                    finished_at = CASE WHEN becomes = 'cancelled' THEN now() END,
                    last_error = CASE WHEN becomes = 'cancelled' THEN (
                      SELECT CASE WHEN count(*) = 0 THEN 'ParentGone'
                                  WHEN bool_or(status = 'cancelled') THEN 'ParentCancelled' ELSE 'ParentDead' END
                             || ': the job ' || failed_parent || ' it depends on is '
                             || CASE WHEN count(*) = 0 THEN 'gone'
                                     WHEN bool_or(status = 'cancelled') THEN 'cancelled' ELSE 'dead' END
                      FROM atlasqueue.jobs AS parent WHERE parent.id = failed_parent) END
    FROM decided WHERE jobs.id = decided.id AND jobs.id = ANY(ARRAY(SELECT id FROM decided))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.priority, jobs.group_key, jobs.has_children, move,
              failed_parent, decided.status AS from_status, becomes AS to_status
  ), remembered AS (
    UPDATE atlasqueue.flow_jobs SET cancelled_by = moved.failed_parent FROM moved
    WHERE flow_jobs.job_id = moved.id AND flow_jobs.job_id = ANY(ARRAY(SELECT id FROM decided))
      AND flow_jobs.cancelled_by IS DISTINCT FROM moved.failed_parent
  ), admissions AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key, lane, payload)
    SELECT 'admit', tenant, id::text, 'group ' || moved.queue || E'\n' || moved.group_key, '{"counted": true}' FROM moved
    WHERE move = 'release' AND to_status = 'blocked' ORDER BY id
  ), changed AS (
    SELECT * FROM moved WHERE 'cancelled' IN (from_status, to_status)
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM changed WHERE has_children
    RETURNING key::uuid AS job_id
  ), counted_moves AS (
    SELECT * FROM moved WHERE from_status <> to_status
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM counted_moves GROUP BY tenant, queue
  )
  SELECT (SELECT json_agg(job_id) FROM atlasqueue.flow_jobs
          WHERE job_id = ANY($1::uuid[]) AND job_id NOT IN (SELECT job_id FROM parts)) AS skipped,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'type', type, 'priority', priority,
                                            'move', move, 'from_status', from_status, 'to_status', to_status) ORDER BY id)
          FROM moved) AS moved;
