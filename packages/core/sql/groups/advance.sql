-- $1 tenants
-- $2 queues
-- $3 group_keys
WITH named AS MATERIALIZED (
    SELECT DISTINCT tenant, queue, group_key FROM unnest((SELECT $1::text[])::text[], (SELECT $2::text[])::text[], (SELECT $3::text[])::text[]) AS one(tenant, queue, group_key)
  ), looked_into AS MATERIALIZED (
    SELECT seen.*, slots, still, ids, room > share AND cardinality(ids) = share AS has_more
    FROM (
      SELECT seen.*, greatest(1, 2000 / count(*) OVER ()) AS share FROM named
      CROSS JOIN LATERAL (SELECT *, one.ctid AS spot FROM atlasqueue.job_groups AS one WHERE one.tenant = named.tenant AND one.queue = named.queue AND one.group_key = named.group_key OFFSET 0) AS seen) AS seen
    CROSS JOIN LATERAL (SELECT least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = seen.tenant AND queues.queue = seen.queue), 1)) AS slots, ARRAY(
        SELECT jobs.id FROM atlasqueue.jobs
        WHERE jobs.id = ANY(seen.heads || ARRAY(
      SELECT held.id FROM atlasqueue.jobs AS held
      WHERE held.tenant = seen.tenant AND held.queue = seen.queue AND held.active_group_key = seen.group_key)) AND jobs.status IN ('scheduled', 'queued', 'running', 'failed')) AS still OFFSET 0) AS now
    CROSS JOIN LATERAL (SELECT greatest(0, slots - cardinality(still)) AS room OFFSET 0) AS places
    CROSS JOIN LATERAL (SELECT ARRAY(
      SELECT id FROM atlasqueue.jobs WHERE jobs.tenant = seen.tenant AND jobs.queue = seen.queue AND jobs.group_key = seen.group_key AND group_seq > 0 ORDER BY group_seq LIMIT least(room, share)) AS ids OFFSET 0) AS waiting
  ), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT unnest(ids) FROM looked_into)) AND (SELECT group_seq) > 0
    FOR UPDATE SKIP LOCKED
  ), through AS MATERIALIZED (
    SELECT looked_into.*, CASE WHEN is_held THEN '{}'::uuid[] ELSE ids END AS goes,
           CASE WHEN is_held THEN now() + interval '500 ms' WHEN has_more THEN now() END AS overdue
    FROM looked_into CROSS JOIN LATERAL (
      SELECT EXISTS (SELECT FROM unnest(ids) AS one(id) WHERE one.id NOT IN (SELECT id FROM free)) AS is_held OFFSET 0) AS held
  ), released AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN run_at > statement_timestamp() THEN 'scheduled' ELSE 'queued' END, group_seq = NULL,
                    ready_at = CASE WHEN run_at > statement_timestamp() THEN NULL ELSE now() END,
                    due_at = CASE WHEN run_at > statement_timestamp() THEN run_at END,
                    active_group_key = CASE WHEN least(10000, coalesce((
      SELECT group_concurrency FROM atlasqueue.queues WHERE queues.tenant = jobs.tenant AND queues.queue = jobs.queue), 1)) = 1 THEN group_key END, updated_at = now()
    WHERE id = ANY(ARRAY(SELECT unnest(goes) FROM through))
    RETURNING id, tenant, queue, group_key, priority, status
  ), kept AS (
    INSERT INTO atlasqueue.job_groups (tenant, queue, group_key, last_seq, admitted, heads, overdue_at)
    SELECT tenant, queue, group_key, last_seq, admitted, still || goes, overdue FROM through
    WHERE overdue IS NOT NULL OR cardinality(still || goes) > 0
      AND NOT (slots = 1 AND cardinality(heads) = 1 AND cardinality(still || goes) = 1 AND overdue_at IS NULL)
    ON CONFLICT (tenant, queue, group_key) DO UPDATE SET heads = excluded.heads, overdue_at = excluded.overdue_at
  ), forgotten AS (
    DELETE FROM atlasqueue.job_groups WHERE ctid = ANY(ARRAY(SELECT spot FROM through WHERE overdue IS NULL AND cardinality(still || goes) = 0))
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, blocked, queued, scheduled)
    SELECT tenant, queue, -count(*), count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'scheduled') FROM released GROUP BY tenant, queue
  )
  SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'group_key', group_key,
                                    'priority', priority, 'status', status)) AS through
  FROM released;
