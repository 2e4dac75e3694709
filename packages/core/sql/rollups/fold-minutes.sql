-- $1 rows_max
WITH taken AS (
    DELETE FROM atlasqueue.rollups WHERE (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.rollups WHERE resolution = 'minute' AND at < date_trunc('hour', now(), 'UTC') - interval '48 hours'
      ORDER BY at LIMIT $1::int FOR UPDATE SKIP LOCKED) || ARRAY(
      SELECT ctid FROM atlasqueue.rollups WHERE resolution = 'hour' AND at < date_trunc('hour', now(), 'UTC') - interval '30 days'
      ORDER BY at LIMIT $1::int FOR UPDATE SKIP LOCKED))
    RETURNING *
  ), gone AS (
    SELECT tenant, queue, type, date_trunc('hour', at, 'UTC') AS at, submitted, succeeded, failed, dead, retried, waits, runs FROM taken
    WHERE resolution = 'minute' AND at >= date_trunc('hour', now(), 'UTC') - interval '30 days'
  ), parts AS (
    SELECT tenant, queue, type, at, 0 AS place, submitted, succeeded, failed, dead, retried, NULL::int8 AS wait, NULL::int8 AS run FROM gone
    UNION ALL
    SELECT tenant, queue, type, at, place, 0, 0, 0, 0, 0, wait, run
    FROM gone, unnest(waits, runs) WITH ORDINALITY AS bucket(wait, run, place)
  ), buckets AS (
    SELECT tenant, queue, type, at, place, sum(submitted) AS submitted, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(dead) AS dead, sum(retried) AS retried,
           coalesce(sum(wait), 0) AS wait, coalesce(sum(run), 0) AS run
    FROM parts GROUP BY tenant, queue, type, at, place
  ), hours AS (
    INSERT INTO atlasqueue.rollups AS known (tenant, queue, type, at, resolution, submitted, succeeded, failed, dead, retried, waits, runs)
    SELECT tenant, queue, type, at, 'hour', sum(submitted), sum(succeeded), sum(failed), sum(dead), sum(retried),
           coalesce(array_agg(wait ORDER BY place) FILTER (WHERE place > 0), '{}'),
           coalesce(array_agg(run ORDER BY place) FILTER (WHERE place > 0), '{}')
    FROM buckets GROUP BY tenant, queue, type, at ORDER BY tenant, queue, type, at
    ON CONFLICT (tenant, queue, type, at, resolution) DO UPDATE SET submitted = known.submitted + excluded.submitted, succeeded = known.succeeded + excluded.succeeded, failed = known.failed + excluded.failed, dead = known.dead + excluded.dead, retried = known.retried + excluded.retried, waits = coalesce((
      SELECT array_agg(coalesce(pair.a, 0) + coalesce(pair.b, 0) ORDER BY pair.place)
      FROM unnest(known.waits, excluded.waits) WITH ORDINALITY AS pair(a, b, place)), '{}'), runs = coalesce((
      SELECT array_agg(coalesce(pair.a, 0) + coalesce(pair.b, 0) ORDER BY pair.place)
      FROM unnest(known.runs, excluded.runs) WITH ORDINALITY AS pair(a, b, place)), '{}')
  )
  SELECT count(*)::int AS folded FROM taken;
