-- $1 groups_max
WITH RECURSIVE lines(tenant) AS (
    (SELECT tenant FROM atlasqueue.job_groups WHERE overdue_at <= now() ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM atlasqueue.job_groups WHERE overdue_at <= now() AND tenant > lines.tenant ORDER BY tenant LIMIT 1)
    FROM lines WHERE tenant IS NOT NULL
  ), turns AS MATERIALIZED (
    SELECT tenant, greatest(1, $1::int / count(*) OVER ()) AS share FROM lines WHERE tenant IS NOT NULL
    ORDER BY random() LIMIT $1::int
  )
  SELECT page.* FROM turns CROSS JOIN LATERAL (
    SELECT tenant, queue, group_key FROM atlasqueue.job_groups
    WHERE overdue_at <= now() AND job_groups.tenant = turns.tenant AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL
    ORDER BY overdue_at LIMIT share FOR UPDATE SKIP LOCKED) AS page;
