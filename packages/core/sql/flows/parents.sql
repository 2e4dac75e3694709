-- $1 tenant
-- $2 ids
-- $3 after
-- $4 parents_max
-- $5 child_bytes_max
WITH RECURSIVE 
  children AS MATERIALIZED (
    SELECT job_id AS child, parents, json_array_length(parents) AS total, on_parent_failure <> 'run' AS counts_on_it
    FROM atlasqueue.flow_jobs WHERE job_id = ANY(ARRAY(SELECT id FROM atlasqueue.jobs WHERE id = ANY($2::uuid[]) AND tenant = $1))
  ), asked AS MATERIALIZED (
    SELECT child, place::int, parent ->> 'ref' AS ref, (parent ->> 'id')::uuid AS id, counts_on_it
    FROM children, json_array_elements(parents) WITH ORDINALITY AS one(parent, place)
  ), 
  ranged AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY child, place)::int AS nth FROM asked WHERE place > $3::int AND place <= $3::int + $4::int
  ), in_order AS MATERIALIZED (
    SELECT array_agg(id ORDER BY nth) AS ids, array_agg(child ORDER BY nth) AS children FROM ranged
  ), weighed AS (
    SELECT 0 AS nth, false AS fits, 0::bigint AS of_child, 0::bigint AS of_all
    UNION ALL
    SELECT nth + 1, before < $5::int, before + bytes, of_all + bytes
    FROM weighed, in_order,
      LATERAL (SELECT CASE WHEN children[nth + 1] = children[nth] THEN of_child ELSE 0 END AS before) AS so_far,
      LATERAL (SELECT CASE WHEN before < $5::int THEN coalesce((
        SELECT 
      CASE WHEN pg_column_compression(result) IS NULL THEN coalesce(pg_column_size(result), 0)
           ELSE octet_length(result::text) END FROM atlasqueue.jobs WHERE id = ids[nth + 1] AND tenant = $1), 0) ELSE 0 END AS bytes OFFSET 0) AS own
    WHERE of_all < 1048576 AND nth < cardinality(ids)
  ), shown AS (
    SELECT child, json_agg(json_build_object('ref', ref, 'place', place, 'id', id, 'status', status,
             'gone', coalesce(cleared, counts_on_it), 'result', result) ORDER BY place) AS parents
    FROM ranged AS one LEFT JOIN LATERAL (
      SELECT status, result, CASE WHEN pg_column_size(result) > 8 THEN false ELSE coalesce(result::text = 'null', false) END AS cleared FROM atlasqueue.jobs WHERE jobs.id = one.id AND jobs.tenant = $1 OFFSET 0) AS job ON true
    WHERE nth = ANY(ARRAY(SELECT nth FROM weighed WHERE fits)) GROUP BY child
  ), counts AS (
    SELECT child, json_object_agg(status, jobs) AS counts FROM (
      SELECT child, status, count(*) AS jobs FROM asked AS one, LATERAL (
      SELECT status FROM atlasqueue.jobs WHERE jobs.id = one.id AND jobs.tenant = $1 OFFSET 0) AS job WHERE $3::int = 0 GROUP BY child, status) AS by_status
    GROUP BY child
  )
  SELECT child, total, counts, parents AS shown
  FROM (SELECT child, total FROM children WHERE total > 0) AS children LEFT JOIN counts USING (child) LEFT JOIN shown USING (child);
