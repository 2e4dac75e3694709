-- $1 tenant
-- $2 queue
-- $3 defaults
INSERT INTO atlasqueue.queues (tenant, queue, defaults) SELECT $1, $2, nullif($3, '')::json WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ON CONFLICT (tenant, queue) DO UPDATE SET defaults = excluded.defaults;
