-- $1 tenants
-- $2 names
-- $3 crons
-- $4 timezones
-- $5 were
-- $6 earlier
WITH late AS MATERIALIZED (
    SELECT tenant, name, earlier
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
      AS late(tenant, name, cron, timezone, next_at, earlier)
    JOIN atlasqueue.schedules AS known USING (tenant, name, cron, timezone, next_at)
    WHERE paused_at IS NULL FOR UPDATE OF known SKIP LOCKED
  )
  UPDATE atlasqueue.schedules SET next_at = earlier FROM late
  WHERE schedules.tenant = late.tenant AND schedules.name = late.name;
