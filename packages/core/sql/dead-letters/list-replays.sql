-- $1 tenant
-- $2 below
-- $3 replays_max
WITH page AS MATERIALIZED (
    SELECT *, 
      CASE WHEN pg_column_compression(patch) IS NULL THEN coalesce(pg_column_size(patch), 0)
           ELSE octet_length(patch::text) END + 
      CASE WHEN pg_column_compression(filter) IS NULL THEN coalesce(pg_column_size(filter), 0)
           ELSE octet_length(filter::text) END AS bytes FROM dead_letter_replays
    WHERE tenant = $1 AND id < $2::text::uuid ORDER BY id DESC LIMIT $3::int
  ), fitting AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, coalesce(sum(bytes) OVER (ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
      FROM page) AS weighed
    WHERE before < 4194304
  )
  SELECT *, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut FROM fitting ORDER BY id DESC;
