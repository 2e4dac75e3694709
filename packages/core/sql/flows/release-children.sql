-- $1 notes_max
-- $2 places
WITH RECURSIVE lines(tenant) AS (
    (SELECT tenant FROM flow_notes WHERE role = 'child' ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM flow_notes WHERE role = 'child' AND tenant > lines.tenant ORDER BY tenant LIMIT 1)
    FROM lines WHERE tenant IS NOT NULL
  ), turns AS MATERIALIZED (
    SELECT tenant, greatest(1, $1::int / count(*) OVER ()) AS share FROM lines WHERE tenant IS NOT NULL
    ORDER BY random() LIMIT $1::int
  ), places AS MATERIALIZED (
    SELECT * FROM json_to_recordset($2::text::json) AS place(tenant text, note tid, round_end tid)
  ), page AS MATERIALIZED (
    SELECT one.*, share, coalesce(round_end, (SELECT format('(%s,0)', pg_relation_size('flow_notes') / current_setting('block_size')::int)::tid)) AS round_end
    FROM turns LEFT JOIN places ON places.tenant = turns.tenant CROSS JOIN LATERAL (
      SELECT ctid AS note, job_id, tenant, after FROM flow_notes
      WHERE role = 'child' AND tenant = turns.tenant AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND ctid > coalesce(places.note, '(0,0)')
      LIMIT share FOR UPDATE SKIP LOCKED) AS one
  ), page_ends AS (
    SELECT DISTINCT ON (tenant) tenant, note, round_end,
           note < round_end AND count(*) OVER (PARTITION BY tenant) = share AS further
    FROM page ORDER BY tenant, note DESC
  ), noted AS MATERIALIZED (
    SELECT page.note, page.job_id, locked.* FROM page
    LEFT JOIN LATERAL (SELECT xmin AS version FROM jobs WHERE jobs.id = page.job_id OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT xmin AS version, status, blocked_seq, group_key, run_at FROM jobs
      WHERE jobs.id = page.job_id FOR NO KEY UPDATE SKIP LOCKED) AS locked ON true
    LEFT JOIN LATERAL (SELECT true AS exists FROM flow_jobs WHERE flow_jobs.job_id = page.job_id OFFSET 0) AS known ON true
    LEFT JOIN LATERAL (
      SELECT true AS free FROM flow_jobs WHERE flow_jobs.job_id = page.job_id FOR NO KEY UPDATE SKIP LOCKED) AS part ON true
    WHERE (seen.version IS NULL OR seen.version = locked.version) AND known.exists IS NOT DISTINCT FROM part.free
  ), children AS MATERIALIZED (
    SELECT child.*, flow_jobs.cancelled_by,
           (SELECT true FROM flow_edges WHERE flow_edges.child = child.id LIMIT 1) AS waits,
           (SELECT parent FROM flow_edges WHERE flow_edges.child = child.id AND failed LIMIT 1) AS failed_parent
    FROM (
      SELECT DISTINCT ON (job_id) job_id AS id, status, group_key, run_at FROM noted
      WHERE status = 'cancelled' OR blocked_seq = 0 ORDER BY job_id) AS child
    CROSS JOIN LATERAL (SELECT cancelled_by FROM flow_jobs WHERE job_id = child.id) AS flow_jobs
  ), decided AS MATERIALIZED (
    SELECT *, CASE WHEN move = 'cancel' THEN 'cancelled' WHEN move = 'revive' OR group_key IS NOT NULL THEN 'blocked'
                   WHEN run_at > now() THEN 'scheduled' ELSE 'queued' END AS becomes
    FROM (
      SELECT *, CASE WHEN failed_parent IS NOT NULL THEN CASE WHEN status = 'blocked' THEN 'cancel' END
                     WHEN status = 'cancelled' AND cancelled_by IS NULL THEN NULL
                     WHEN waits IS NULL THEN 'release'
                     WHEN status = 'cancelled' THEN 'revive' END AS move
      FROM children WHERE (SELECT true FROM arrivals WHERE arrivals.job_id = children.id) IS NULL) AS child
    WHERE move IS NOT NULL
  ), moved AS (
    UPDATE jobs SET status = becomes, blocked_seq = CASE WHEN becomes = 'blocked' THEN 0 END,
                    ready_at = CASE WHEN becomes = 'queued' THEN now() END,
                    due_at = CASE WHEN becomes = 'scheduled' THEN jobs.run_at END,
                    run_at = greatest(jobs.run_at, now()), updated_at = now(),
                    finished_at = CASE WHEN becomes = 'cancelled' THEN now() END,
                    last_error = CASE WHEN becomes = 'cancelled' THEN (
                      SELECT CASE WHEN count(*) = 0 THEN 'ParentGone'
                                  WHEN bool_or(status = 'cancelled') THEN 'ParentCancelled' ELSE 'ParentDead' END
                             || ': the job ' || failed_parent || ' it depends on is '
                             || CASE WHEN count(*) = 0 THEN 'gone'
                                     WHEN bool_or(status = 'cancelled') THEN 'cancelled' ELSE 'dead' END
                      FROM jobs AS parent WHERE parent.id = failed_parent) END
    FROM decided WHERE jobs.id = decided.id AND jobs.id = ANY(ARRAY(SELECT id FROM decided))
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.type, jobs.priority, jobs.group_key, jobs.has_children, move,
              failed_parent, decided.status AS from_status, becomes AS to_status
  ), remembered AS (
    UPDATE flow_jobs SET cancelled_by = moved.failed_parent FROM moved
    WHERE flow_jobs.job_id = moved.id AND flow_jobs.job_id = ANY(ARRAY(SELECT id FROM decided))
      AND flow_jobs.cancelled_by IS DISTINCT FROM moved.failed_parent
  ), arrived AS (
    INSERT INTO arrivals (job_id, tenant, queue, group_key)
    SELECT id, tenant, queue, group_key FROM moved WHERE move = 'release' AND to_status = 'blocked'
  ), changed AS (
    SELECT * FROM moved WHERE 'cancelled' IN (from_status, to_status)
  ), noted_parents AS (
    INSERT INTO flow_notes (job_id, role, tenant) SELECT id, 'parent', tenant FROM changed WHERE has_children RETURNING job_id
  ), counted_moves AS (
    SELECT * FROM moved WHERE from_status <> to_status
  ), counted AS (
    INSERT INTO queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM counted_moves GROUP BY tenant, queue
  ), gone AS (
    DELETE FROM flow_notes WHERE ctid = ANY(ARRAY(SELECT note FROM noted)) RETURNING ctid
  )
  SELECT (SELECT count(*)::int FROM gone) AS notes, ((SELECT count(*) FROM page) - (SELECT count(*) FROM noted))::int AS in_vain,
         coalesce((SELECT json_agg(json_build_object('tenant', tenant, 'note', note, 'round_end', round_end))
                   FROM page_ends WHERE further), '[]') AS reached,
         EXISTS (SELECT FROM flow_notes WHERE role = 'child' AND ctid NOT IN (SELECT ctid FROM gone)) AS left,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'type', type, 'priority', priority,
                                            'has_children', has_children, 'move', move, 'from_status', from_status,
                                            'to_status', to_status) ORDER BY id)
          FROM moved) AS moved;
