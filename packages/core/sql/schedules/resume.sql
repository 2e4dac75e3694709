-- $1 tenant
-- $2 name
-- $3 next_at
UPDATE atlasqueue.schedules SET paused_at = NULL, next_at = nullif($3::text, '')::timestamptz, updated_at = now()
  WHERE tenant = $1 AND name = $2
  RETURNING *, now() AS seen_at;
