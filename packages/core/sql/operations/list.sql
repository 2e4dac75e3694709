-- $1 tenant
-- $2 below
-- $3 operations_max
-- $4 kind
WITH RECURSIVE page AS MATERIALIZED (
    SELECT id FROM atlasqueue.operations
    WHERE tenant = $1 AND id < $2::text::uuid AND ($4 = '' OR kind = $4) ORDER BY id DESC LIMIT $3::int
  ), 
  in_order AS MATERIALIZED (
    SELECT array_agg(id ORDER BY id DESC) AS keys FROM page
  ), weighed AS (
    SELECT 0 AS nth, 0::bigint AS bytes
    UNION ALL
    SELECT nth + 1, weighed.bytes + (SELECT 
      CASE WHEN pg_column_compression(patch) IS NULL THEN coalesce(pg_column_size(patch), 0)
           ELSE octet_length(patch::text) END + 
      CASE WHEN pg_column_compression(filter) IS NULL THEN coalesce(pg_column_size(filter), 0)
           ELSE octet_length(filter::text) END FROM (SELECT * FROM atlasqueue.operations WHERE tenant = $1) AS own WHERE id = keys[nth + 1])
    FROM weighed, in_order WHERE weighed.bytes < 4194304 AND nth < cardinality(keys)
  ), fitting AS MATERIALIZED (
    SELECT keys[nth] AS id, bytes FROM weighed, in_order WHERE nth > 0
  )
  SELECT *, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut FROM atlasqueue.operations WHERE tenant = $1 AND id = ANY(ARRAY(SELECT id FROM fitting)) ORDER BY id DESC;
