-- $1 tenant
-- $2 queues
-- $3 type
-- $4 step_seconds
-- $5 items
-- $6 times
WITH span AS MATERIALIZED (
    SELECT now(), to_timestamp((floor(extract(epoch FROM now()) / $4::int) - $5::int + 1) * $4::int) AS "from"
  )
  SELECT span.now, span."from", known.*, floor(extract(epoch FROM at - span."from") / $4::int)::int AS bucket
  FROM span LEFT JOIN (
    SELECT wanted.queue, kept.* FROM unnest($2::text[]) AS wanted(queue) CROSS JOIN LATERAL (
      SELECT at, submitted::float8, succeeded::float8, failed::float8, dead::float8, retried::float8,
             CASE WHEN $6::text::bool THEN waits::text END AS waits, CASE WHEN $6::text::bool THEN runs::text END AS runs
      FROM atlasqueue.rollups
      WHERE tenant = $1 AND rollups.queue = wanted.queue AND type = $3 AND at >= (SELECT "from" FROM span) OFFSET 0) AS kept
  ) AS known ON true;
