-- $1 tenants
-- $2 queues
-- $3 types
-- $4 submitted
-- $5 succeeded
-- $6 failed
-- $7 dead
-- $8 retried
-- $9 waits
-- $10 runs
-- $11 age_seconds
INSERT INTO atlasqueue.rollups AS known (tenant, queue, type, resolution, at, submitted, succeeded, failed, dead, retried, waits, runs)
  SELECT tenant, queue, type, 'minute', date_trunc('minute', now() - make_interval(secs => $11::float8), 'UTC'),
         submitted, succeeded, failed, dead, retried, waits::int8[], runs::int8[]
  FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::text[], $10::text[])
    AS input(tenant, queue, type, submitted, succeeded, failed, dead, retried, waits, runs)
  WHERE (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ORDER BY tenant COLLATE "C", queue COLLATE "C", type COLLATE "C"
  ON CONFLICT (tenant, queue, type, at, resolution) DO UPDATE SET submitted = known.submitted + excluded.submitted, succeeded = known.succeeded + excluded.succeeded, failed = known.failed + excluded.failed, dead = known.dead + excluded.dead, retried = known.retried + excluded.retried, waits = coalesce((
      SELECT array_agg(coalesce(pair.a, 0) + coalesce(pair.b, 0) ORDER BY pair.place)
      FROM unnest(known.waits, excluded.waits) WITH ORDINALITY AS pair(a, b, place)), '{}'), runs = coalesce((
      SELECT array_agg(coalesce(pair.a, 0) + coalesce(pair.b, 0) ORDER BY pair.place)
      FROM unnest(known.runs, excluded.runs) WITH ORDINALITY AS pair(a, b, place)), '{}');
