-- $1 tenant
-- $2 ids
WITH 
  asked AS MATERIALIZED (
    SELECT job_id AS child, nth::int AS place, parent ->> 'ref' AS ref, (parent ->> 'id')::uuid AS id,
           json_array_length(parents) AS total, on_parent_failure <> 'run' AS counts_on_it
    FROM flow_jobs, json_array_elements(parents) WITH ORDINALITY AS one(parent, nth)
    WHERE job_id = ANY(ARRAY(SELECT id FROM jobs WHERE id = ANY($2::uuid[]) AND tenant = $1))
  ), 
  weighed AS MATERIALIZED (
    SELECT one.*, status, coalesce(cleared, counts_on_it) AS gone, coalesce(sum(bytes) OVER (
             PARTITION BY child ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
           coalesce(sum(bytes) OVER (
             ORDER BY child, place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_of_all
    FROM asked AS one LEFT JOIN LATERAL (
      SELECT status, 
      CASE WHEN pg_column_compression(result) IS NULL THEN coalesce(pg_column_size(result), 0)
           ELSE octet_length(result::text) END AS bytes, CASE WHEN pg_column_size(result) > 8 THEN false ELSE coalesce(result::text = 'null', false) END AS cleared FROM jobs WHERE jobs.id = one.id AND jobs.tenant = $1 OFFSET 0) AS job ON true WHERE place <= 100
  ), shown AS (
    SELECT child, json_agg(json_build_object('ref', ref, 'place', place, 'id', id, 'status', weighed.status, 'gone', weighed.gone,
             'result', (SELECT result FROM jobs WHERE jobs.id = weighed.id AND jobs.tenant = $1)) ORDER BY place) AS parents
    FROM weighed WHERE before < 262144 AND before_of_all < 1048576 GROUP BY child
  ), counts AS (
    SELECT child, json_object_agg(status, jobs) AS counts FROM (
      SELECT child, status, count(*) AS jobs FROM asked AS one, LATERAL (
      SELECT status FROM jobs WHERE jobs.id = one.id AND jobs.tenant = $1 OFFSET 0) AS job GROUP BY child, status) AS by_status
    GROUP BY child
  )
  SELECT child, total, counts, parents AS shown
  FROM (SELECT DISTINCT child, total FROM asked) AS children LEFT JOIN counts USING (child) LEFT JOIN shown USING (child);
