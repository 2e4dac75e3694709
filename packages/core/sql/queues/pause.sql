-- $1 tenant
-- $2 queue
-- $3 paused
INSERT INTO atlasqueue.queues AS known (tenant, queue, paused_at)
  SELECT $1, $2::text, CASE WHEN $3::text::bool THEN now() END
  WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND ($3::text::bool OR EXISTS (
    SELECT FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2::text AND paused_at IS NOT NULL))
  ON CONFLICT (tenant, queue) DO UPDATE SET paused_at = CASE WHEN $3::text::bool THEN coalesce(known.paused_at, now()) END
  WHERE $3::text::bool OR known.paused_at IS NOT NULL
  RETURNING paused_at, paused_at < now() AS was_paused;
