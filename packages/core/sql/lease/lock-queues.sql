-- $1 tenant
-- $2 queues
SELECT set_config('atlasqueue.locked', json_agg(queue)::text, true) FROM (
    SELECT queue FROM atlasqueue.queues
    WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND (fair_by IS NOT NULL OR (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)) AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
    ORDER BY queue FOR UPDATE) AS locked;
