-- $1 tenant
-- $2 after
-- $3 schedules_max
WITH RECURSIVE page AS MATERIALIZED (
    SELECT name FROM atlasqueue.schedules WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3::int
  ), 
  in_order AS MATERIALIZED (
    SELECT array_agg(name ORDER BY name) AS keys FROM page
  ), weighed AS (
    SELECT 0 AS nth, 0::bigint AS bytes
    UNION ALL
    SELECT nth + 1, weighed.bytes + (SELECT 
      CASE WHEN pg_column_compression(job) IS NULL THEN coalesce(pg_column_size(job), 0)
           ELSE octet_length(job::text) END FROM (SELECT * FROM atlasqueue.schedules WHERE tenant = $1) AS own WHERE name = keys[nth + 1])
    FROM weighed, in_order WHERE weighed.bytes < 4194304 AND nth < cardinality(keys)
  ), fitting AS MATERIALIZED (
    SELECT keys[nth] AS name, bytes FROM weighed, in_order WHERE nth > 0
  )
  SELECT *, now() AS seen_at, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut FROM atlasqueue.schedules
  WHERE tenant = $1 AND name = ANY(ARRAY(SELECT name FROM fitting)) ORDER BY name;
