-- $1 ids
-- $2 tenant
WITH kept AS (
    SELECT job_id, kind, name, value, at, 
      CASE WHEN pg_column_compression(value) IS NULL THEN coalesce(pg_column_size(value), 0)
           ELSE octet_length(value::text) END + octet_length(name) AS bytes
    FROM atlasqueue.job_state AS kept WHERE job_id = ANY($1::uuid[]) AND tenant = $2 AND kind <> 'wait'
  ), weighed AS (
    SELECT job_id, kind, name, value, sum(bytes) OVER of_job <= 262144 AND sum(bytes) OVER of_all <= 1048576 AS fits
    FROM kept WINDOW of_job AS (PARTITION BY job_id ORDER BY at, kind, name), of_all AS (ORDER BY job_id, at, kind, name)
  )
  SELECT job_id, kind, name, CASE WHEN fits THEN value END AS value, fits FROM weighed;
