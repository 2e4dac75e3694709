-- $1 tenants
-- $2 queues
-- $3 group_keys
WITH ordered AS MATERIALIZED (
    SELECT tenant, queue, group_key FROM unnest((SELECT $1::text[])::text[], (SELECT $2::text[])::text[], (SELECT $3::text[])::text[]) AS one(tenant, queue, group_key)
    WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL AND (SELECT CASE WHEN current_setting('transaction_timeout', true) IS NULL THEN ''
                ELSE set_config('transaction_timeout', '10000', true) END) IS NOT NULL
    GROUP BY tenant, queue, group_key ORDER BY one.tenant COLLATE "C", one.queue COLLATE "C", one.group_key COLLATE "C"
  )
  SELECT count(*)::int AS locked FROM ordered CROSS JOIN LATERAL (
    SELECT FROM atlasqueue.job_groups AS one WHERE one.tenant = ordered.tenant AND one.queue = ordered.queue AND one.group_key = ordered.group_key FOR UPDATE) AS locked;
