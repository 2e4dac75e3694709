-- $1 tenant
-- $2 after
-- $3 schedules_max
WITH page AS MATERIALIZED (
    SELECT *, 
      CASE WHEN pg_column_compression(job) IS NULL THEN coalesce(pg_column_size(job), 0)
           ELSE octet_length(job::text) END AS bytes FROM schedules
    WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3::int
  ), fitting AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, coalesce(sum(bytes) OVER (ORDER BY name ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
      FROM page) AS weighed
    WHERE before < 4194304
  )
  SELECT *, now() AS seen_at, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut FROM fitting ORDER BY name;
