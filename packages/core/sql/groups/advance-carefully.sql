-- $1 handovers_max
WITH 
  noted AS MATERIALIZED (
    SELECT note.ctid AS note, seen.tenant, seen.queue, seen.group_key, turn.still, wanted.ids
    FROM group_handovers AS note
    LEFT JOIN LATERAL (
      SELECT * FROM job_groups AS one
      WHERE one.tenant = note.tenant AND one.queue = note.queue AND one.group_key = note.group_key OFFSET 0
    ) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT last_seq, heads FROM job_groups AS one
      WHERE one.tenant = note.tenant AND one.queue = note.queue AND one.group_key = note.group_key FOR UPDATE SKIP LOCKED
    ) AS locked ON true
    CROSS JOIN LATERAL (
      SELECT coalesce((
      SELECT group_concurrency FROM queues WHERE queues.tenant = seen.tenant AND queues.queue = seen.queue), 1) AS slots,
             ARRAY(
        SELECT jobs.id FROM jobs
        WHERE jobs.id = ANY(locked.heads || ARRAY(
      SELECT held.id FROM jobs AS held
      WHERE held.tenant = seen.tenant AND held.queue = seen.queue AND held.holds_group = seen.group_key)) AND jobs.status IN ('scheduled', 'queued', 'running', 'failed')) AS still
      WHERE seen.tenant IS NULL OR (locked.last_seq, locked.heads) = (seen.last_seq, seen.heads) OFFSET 0
    ) AS turn
    CROSS JOIN LATERAL (
      SELECT ARRAY(
        SELECT id FROM jobs
        WHERE jobs.tenant = seen.tenant AND jobs.queue = seen.queue AND jobs.group_key = seen.group_key AND blocked_seq > 0
        ORDER BY blocked_seq LIMIT greatest(0, turn.slots - cardinality(turn.still))) AS ids OFFSET 0
    ) AS wanted
    CROSS JOIN LATERAL (
      SELECT ARRAY(
        SELECT id FROM jobs WHERE id = ANY(wanted.ids) AND (SELECT blocked_seq) > 0 FOR UPDATE SKIP LOCKED) AS ids OFFSET 0
    ) AS had
    WHERE (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND cardinality(had.ids) = cardinality(wanted.ids)
    LIMIT $1::int FOR UPDATE OF note SKIP LOCKED
  ), next AS MATERIALIZED (
    SELECT DISTINCT ON (tenant, queue, group_key) tenant, queue, group_key, still, ids
    FROM noted WHERE tenant IS NOT NULL ORDER BY tenant, queue, group_key
  ), released AS (
    UPDATE jobs SET status = CASE WHEN run_at > statement_timestamp() THEN 'scheduled' ELSE 'queued' END, blocked_seq = NULL,
                    ready_at = CASE WHEN run_at > statement_timestamp() THEN NULL ELSE now() END,
                    due_at = CASE WHEN run_at > statement_timestamp() THEN run_at END,
                    holds_group = CASE WHEN coalesce((
      SELECT group_concurrency FROM queues WHERE queues.tenant = jobs.tenant AND queues.queue = jobs.queue), 1) = 1 THEN group_key END, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM next))
    RETURNING id, tenant, queue, priority, status
  ), kept AS (
    UPDATE job_groups SET heads = still || ids FROM next
    WHERE job_groups.tenant = next.tenant AND job_groups.queue = next.queue AND job_groups.group_key = next.group_key
      AND cardinality(still || ids) > 0
  ), forgotten AS (
    DELETE FROM job_groups USING next
    WHERE job_groups.tenant = next.tenant AND job_groups.queue = next.queue AND job_groups.group_key = next.group_key
      AND cardinality(still || ids) = 0
  ), gone AS (
    DELETE FROM group_handovers WHERE ctid = ANY(ARRAY(
      SELECT note FROM noted WHERE tenant IS NULL OR (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM next)))
    RETURNING ctid
  ), counted AS (
    INSERT INTO queue_changes (tenant, queue, blocked, queued, scheduled)
    SELECT tenant, queue, -count(*), count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'scheduled') FROM released GROUP BY tenant, queue
  )
  SELECT (SELECT count(*)::int FROM noted) AS looked_at, (SELECT count(*)::int FROM gone) AS handovers,
         EXISTS (SELECT FROM group_handovers WHERE ctid NOT IN (SELECT ctid FROM gone)) AS left,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status))
          FROM released) AS released;
