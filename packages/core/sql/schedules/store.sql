-- $1 tenant
-- $2 name
-- $3 cron
-- $4 timezone
-- $5 catch_up
-- $6 job
-- $7 next_at
-- $8 traceparent
-- $9 tracestate
-- $10 replaces
INSERT INTO atlasqueue.schedules AS known (tenant, name, cron, timezone, catch_up, job, next_at, traceparent, tracestate, created_at, updated_at)
  SELECT $1, $2::text, $3, $4, $5, $6::text::json, nullif($7::text, '')::timestamptz, nullif($8::text, ''), nullif($9::text, ''), now(), now()
  WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (EXISTS (SELECT FROM atlasqueue.schedules WHERE tenant = $1 AND name = $2::text)
     OR (SELECT count(*) FROM atlasqueue.schedules WHERE tenant = $1) < 1000)
  ON CONFLICT (tenant, name) DO UPDATE SET
    next_at = CASE WHEN known.cron = excluded.cron AND known.timezone = excluded.timezone
                   THEN known.next_at ELSE excluded.next_at END,
    cron = excluded.cron, timezone = excluded.timezone, catch_up = excluded.catch_up, job = excluded.job,
    traceparent = excluded.traceparent, tracestate = excluded.tracestate, updated_at = now()
  WHERE $10::text::bool
  RETURNING known.*, now() AS seen_at, known.xmax = 0 AS created;
