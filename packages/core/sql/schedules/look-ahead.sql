-- $1 tenant
-- $2 name
-- $3 schedules_max
SELECT tenant, name, cron, timezone, next_at, now() AS now FROM atlasqueue.schedules
  WHERE (tenant, name) > ($1, $2) AND paused_at IS NULL AND next_at > now() + interval '1 minute'
  ORDER BY tenant, name LIMIT $3::int;
