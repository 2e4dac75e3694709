-- $1 tenant
-- $2 queues
-- $3 step_seconds
-- $4 steps
WITH span AS MATERIALIZED (
    SELECT to_timestamp((floor(extract(epoch FROM now()) / $3::int) - $4::int + 1) * $3::int) AS "from"
  ), known AS (
    SELECT wanted.queue, floor(extract(epoch FROM minutes.at - (SELECT "from" FROM span)) / $3::int)::int AS bucket,
           sum(minutes.submitted)::float8 AS submitted, sum(minutes.succeeded)::float8 AS succeeded,
           sum(minutes.failed)::float8 AS failed
    FROM unnest($2::text[]) AS wanted(queue) CROSS JOIN LATERAL (
      SELECT at, submitted, succeeded, failed FROM atlasqueue.rollups
      WHERE tenant = $1 AND rollups.queue = wanted.queue AND type = '' AND at >= (SELECT "from" FROM span)
      OFFSET 0) AS minutes
    GROUP BY 1, 2
  )
  SELECT span."from", known.* FROM span LEFT JOIN known ON true;
