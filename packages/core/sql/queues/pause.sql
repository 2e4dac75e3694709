-- $1 tenant
-- $2 queue
INSERT INTO atlasqueue.queues AS known (tenant, queue, paused_at) SELECT $1, $2, now() WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ON CONFLICT (tenant, queue) DO UPDATE SET paused_at = coalesce(known.paused_at, now())
  RETURNING paused_at, paused_at < now() AS was_paused;
