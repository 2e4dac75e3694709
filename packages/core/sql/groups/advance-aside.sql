-- $1 notes_max
-- $2 reached
WITH RECURSIVE lines(tenant) AS (
    (SELECT tenant FROM group_handovers WHERE aside ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM group_handovers WHERE aside AND tenant > lines.tenant ORDER BY tenant LIMIT 1)
    FROM lines WHERE tenant IS NOT NULL
  ), turns AS MATERIALIZED (
    SELECT tenant, greatest(1, $1::int / count(*) OVER ()) AS share FROM lines WHERE tenant IS NOT NULL
    ORDER BY random() LIMIT $1::int
  ), reached AS MATERIALIZED (
    SELECT * FROM json_to_recordset($2::text::json) AS place(tenant text, queue text, group_key text)
  ), page AS MATERIALIZED (
    SELECT note.*, share FROM turns LEFT JOIN reached ON reached.tenant = turns.tenant CROSS JOIN LATERAL (
      SELECT ctid AS note, tenant, queue, group_key FROM group_handovers AS one
      WHERE (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL AND aside AND one.tenant = turns.tenant
        AND (one.queue, one.group_key) > (coalesce(reached.queue, ''), coalesce(reached.group_key, ''))
      ORDER BY queue, group_key LIMIT share FOR UPDATE SKIP LOCKED) AS note
  ), 
  noted AS MATERIALIZED (
    SELECT seen.*, row_number() OVER (PARTITION BY seen.tenant ORDER BY random()) AS turn
    FROM (SELECT DISTINCT tenant, queue, group_key FROM page) AS note
    CROSS JOIN LATERAL (SELECT *, one.ctid AS spot FROM job_groups AS one WHERE one.tenant = note.tenant AND one.queue = note.queue AND one.group_key = note.group_key OFFSET 0) AS seen
  ), weighed AS MATERIALIZED (
    SELECT *, row_number() OVER in_turn AS place,
           coalesce(sum(size) FILTER (WHERE size > 10) OVER (in_turn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM noted, LATERAL (SELECT pg_column_size(heads) / 16 AS size OFFSET 0) AS stored
    WINDOW in_turn AS (ORDER BY turn, random())
  ), looked_into AS MATERIALIZED (
    SELECT seen.*, still, room, ids, room > share AND cardinality(ids) = share AS has_more
    FROM (
      SELECT *, greatest(1, 2000 / count(*) OVER ()) AS share FROM weighed
      WHERE size <= 10 OR before < 5000) AS seen
    CROSS JOIN LATERAL (SELECT least(10000, coalesce((
      SELECT group_concurrency FROM queues WHERE queues.tenant = seen.tenant AND queues.queue = seen.queue), 1)) AS slots, ARRAY(
        SELECT jobs.id FROM jobs
        WHERE jobs.id = ANY(seen.heads || ARRAY(
      SELECT held.id FROM jobs AS held
      WHERE held.tenant = seen.tenant AND held.queue = seen.queue AND held.holds_group = seen.group_key)) AND jobs.status IN ('scheduled', 'queued', 'running', 'failed')) AS still OFFSET 0) AS now
    CROSS JOIN LATERAL (SELECT greatest(0, slots - cardinality(still)) AS room OFFSET 0) AS places
    CROSS JOIN LATERAL (SELECT ARRAY(
      SELECT id FROM jobs WHERE jobs.tenant = seen.tenant AND jobs.queue = seen.queue AND jobs.group_key = seen.group_key AND blocked_seq > 0 ORDER BY blocked_seq LIMIT least(room, share)) AS ids OFFSET 0) AS waiting
  ), many AS MATERIALIZED (
    SELECT tenant, queue, group_key, sum(jobs) OVER (ORDER BY place) - jobs AS before FROM (
      SELECT *, greatest(share, least(room, last_seq + 1 - (SELECT blocked_seq FROM jobs WHERE id = ids[1]))) AS jobs
      FROM looked_into WHERE has_more) AS at_most
  ), wanted AS MATERIALIZED (
    SELECT tenant, queue, group_key, spot, last_seq, admitted, heads, still, room, ids FROM looked_into WHERE NOT has_more
    UNION ALL
    SELECT tenant, queue, group_key, spot, last_seq, admitted, heads, still, room, ARRAY(
      SELECT id FROM jobs WHERE jobs.tenant = seen.tenant AND jobs.queue = seen.queue AND jobs.group_key = seen.group_key AND blocked_seq > 0 ORDER BY blocked_seq LIMIT room)
    FROM looked_into AS seen
    WHERE (tenant, queue, group_key) IN (SELECT tenant, queue, group_key FROM many WHERE before < 2000)
  ), unread AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM noted EXCEPT SELECT tenant, queue, group_key FROM wanted
  ), free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM wanted)) AND (SELECT blocked_seq) > 0
    FOR UPDATE SKIP LOCKED
  ), able AS MATERIALIZED (
    SELECT * FROM wanted WHERE NOT EXISTS (
      SELECT FROM unnest(wanted.ids) AS one(id) WHERE one.id NOT IN (SELECT id FROM free))
  ), next AS MATERIALIZED (
    SELECT able.* FROM able CROSS JOIN LATERAL (
      SELECT ctid AS spot, last_seq, heads FROM job_groups AS one WHERE one.tenant = able.tenant AND one.queue = able.queue AND one.group_key = able.group_key FOR UPDATE SKIP LOCKED) AS locked
    WHERE locked.heads = able.heads AND (locked.last_seq = able.last_seq OR cardinality(ids) = room)
      AND (locked.spot = able.spot OR cardinality(still || ids) > 0)
  ), released AS (
    UPDATE jobs SET status = CASE WHEN run_at > statement_timestamp() THEN 'scheduled' ELSE 'queued' END, blocked_seq = NULL,
                    ready_at = CASE WHEN run_at > statement_timestamp() THEN NULL ELSE now() END,
                    due_at = CASE WHEN run_at > statement_timestamp() THEN run_at END,
                    holds_group = CASE WHEN least(10000, coalesce((
      SELECT group_concurrency FROM queues WHERE queues.tenant = jobs.tenant AND queues.queue = jobs.queue), 1)) = 1 THEN group_key END, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM next))
    RETURNING id, tenant, queue, priority, status
  ), kept AS (
    INSERT INTO job_groups (tenant, queue, group_key, last_seq, admitted, heads)
    SELECT tenant, queue, group_key, last_seq, admitted, still || ids FROM next WHERE cardinality(still || ids) > 0
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET heads = excluded.heads
  ), forgotten AS (
    DELETE FROM job_groups WHERE ctid = ANY(ARRAY(SELECT spot FROM next WHERE cardinality(still || ids) = 0))
  ), stuck AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM wanted EXCEPT SELECT tenant, queue, group_key FROM next
  ), gone AS (
    DELETE FROM group_handovers WHERE ctid = ANY(ARRAY(
      SELECT note FROM page WHERE (tenant, queue, group_key) NOT IN (SELECT * FROM stuck UNION ALL SELECT * FROM unread)))
    RETURNING ctid
  ), counted AS (
    INSERT INTO queue_changes (tenant, queue, blocked, queued, scheduled)
    SELECT tenant, queue, -count(*), count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'scheduled') FROM released GROUP BY tenant, queue
  ), ends AS (
    SELECT DISTINCT ON (tenant) tenant, queue, group_key, count(*) OVER (PARTITION BY tenant) = share AS further
    FROM page ORDER BY tenant, queue DESC, group_key DESC
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT count(*)::int FROM gone) AS handovers,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'status', status))
          FROM released) AS released,
         (SELECT json_agg(json_build_object('tenant', tenant, 'queue', queue, 'group_key', group_key))
          FROM ends WHERE further) AS reached;
