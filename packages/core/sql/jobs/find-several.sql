-- $1 tenant
-- $2 ids
WITH page AS MATERIALIZED (
    SELECT id, (
      CASE WHEN pg_column_compression(payload) IS NULL THEN coalesce(pg_column_size(payload), 0)
           ELSE octet_length(payload::text) END + 
      CASE WHEN pg_column_compression(result) IS NULL THEN coalesce(pg_column_size(result), 0)
           ELSE octet_length(result::text) END + 
      CASE WHEN pg_column_compression(progress) IS NULL THEN coalesce(pg_column_size(progress), 0)
           ELSE octet_length(progress::text) END + 
      CASE WHEN pg_column_compression(last_error) IS NULL THEN coalesce(pg_column_size(last_error), 0)
           ELSE octet_length(last_error::text) END) AS bytes FROM jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1
  ), fitting AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, coalesce(sum(bytes) OVER (ORDER BY id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
      FROM page) AS weighed
    WHERE before < 4194304
  )
  SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM fitting)) AND tenant = $1 ORDER BY id DESC;
