-- $1 tenant
-- $2 queue
SELECT FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2 AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE;
