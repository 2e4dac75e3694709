-- $1 tenants
-- $2 named_tenants
-- $3 named_queues
-- $4 browsed_tenants
-- $5 first_queues
-- $6 ids
WITH known AS (
    SELECT tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_counts WHERE tenant = ANY($1::text[])
    UNION ALL SELECT tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_changes WHERE tenant = ANY($1::text[])
  ), totals AS (
    SELECT tenant, coalesce(sum(scheduled), 0)::float8 AS scheduled, coalesce(sum(blocked), 0)::float8 AS blocked, coalesce(sum(queued), 0)::float8 AS queued, coalesce(sum(running), 0)::float8 AS running, coalesce(sum(failed), 0)::float8 AS failed, coalesce(sum(succeeded), 0)::float8 AS succeeded, coalesce(sum(dead), 0)::float8 AS dead, coalesce(sum(cancelled), 0)::float8 AS cancelled FROM known GROUP BY tenant
  ), followed AS (
    SELECT * FROM unnest($2::text[], $3::text[]) AS named(tenant, queue)
    UNION
    SELECT browsed.tenant, first.queue FROM unnest($4::text[]) AS browsed(tenant), LATERAL (
      SELECT queue FROM atlasqueue.queue_counts WHERE queue_counts.tenant = browsed.tenant ORDER BY queue LIMIT $5::int) AS first
  ), queues AS (
    SELECT followed.tenant, followed.queue, coalesce(sum(scheduled), 0)::float8 AS scheduled, coalesce(sum(blocked), 0)::float8 AS blocked, coalesce(sum(queued), 0)::float8 AS queued, coalesce(sum(running), 0)::float8 AS running, coalesce(sum(failed), 0)::float8 AS failed, coalesce(sum(succeeded), 0)::float8 AS succeeded, coalesce(sum(dead), 0)::float8 AS dead, coalesce(sum(cancelled), 0)::float8 AS cancelled FROM followed LEFT JOIN known USING (tenant, queue)
    GROUP BY followed.tenant, followed.queue
  ), finished AS (
    SELECT tenant, id, queue, type, status,
           to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS finished_at
    FROM atlasqueue.jobs
    WHERE id = ANY($6::uuid[]) AND tenant = ANY($1::text[]) AND status IN ('succeeded', 'dead', 'cancelled')
    ORDER BY jobs.finished_at DESC
  )
  SELECT now() AS at, (SELECT json_agg(totals) FROM totals) AS totals, (SELECT json_agg(queues) FROM queues) AS queues,
         (SELECT json_agg(finished) FROM finished) AS finished;
