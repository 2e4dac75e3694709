-- $1 tenant
-- $2 id
-- $3 after
-- $4 jobs_max
WITH RECURSIVE page AS MATERIALIZED (
    SELECT job_id, jobs.id, place, ref, type, queue, status, on_parent_failure, attempts, max_attempts, parents,
           left(last_error, 500) AS last_error, started_at, finished_at
    FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = $1
    WHERE flow_jobs.tenant = $1 AND flow_jobs.flow_id = $2::text::uuid AND place > $3::int ORDER BY place LIMIT $4::int
  ), 
  in_order AS MATERIALIZED (
    SELECT array_agg(job_id ORDER BY place) AS keys FROM page
  ), weighed AS (
    SELECT 0 AS nth, 0::bigint AS bytes
    UNION ALL
    SELECT nth + 1, weighed.bytes + (SELECT 
      CASE WHEN pg_column_compression(parents) IS NULL THEN coalesce(pg_column_size(parents), 0)
           ELSE octet_length(parents::text) END + coalesce(octet_length(left(last_error, 500)), 0) FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = job_id WHERE job_id = keys[nth + 1])
    FROM weighed, in_order WHERE weighed.bytes < 4194304 AND nth < cardinality(keys)
  ), fitting AS MATERIALIZED (
    SELECT keys[nth] AS job_id, bytes FROM weighed, in_order WHERE nth > 0
  )
  SELECT id, place, ref, type, queue, status, on_parent_failure, attempts, max_attempts, parents, last_error, started_at, finished_at, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut FROM page WHERE job_id IN (SELECT job_id FROM fitting) ORDER BY place;
