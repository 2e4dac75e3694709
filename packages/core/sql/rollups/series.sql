-- $1 tenant
-- $2 queue
-- $3 type
-- $4 step_seconds
-- $5 items
WITH span AS MATERIALIZED (
    SELECT now(), to_timestamp((floor(extract(epoch FROM now()) / $4::int) - $5::int + 1) * $4::int) AS "from"
  )
  SELECT span.now, span."from", floor(extract(epoch FROM at - span."from") / $4::int)::int AS bucket,
         submitted, succeeded, failed, dead, retried, waits, runs
  FROM span LEFT JOIN (
    SELECT at, submitted::float8, succeeded::float8, failed::float8, dead::float8, retried::float8, waits::text, runs::text FROM atlasqueue.rollups
    WHERE tenant = $1 AND queue = $2 AND type = $3 AND at >= (SELECT "from" FROM span)
  ) AS known ON true;
