-- $1 tenant
-- $2 queue
UPDATE atlasqueue.queues SET paused_at = NULL WHERE tenant = $1 AND queue = $2 AND paused_at IS NOT NULL AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL RETURNING queue;
