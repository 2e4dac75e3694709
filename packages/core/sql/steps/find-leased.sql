-- $1 ids
-- $2 tenant
WITH kept AS (
    SELECT job_id, 'steps' AS kind, name, kept.result AS value, kept.finished_at AS at, 
      CASE WHEN pg_column_compression(kept.result) IS NULL THEN coalesce(pg_column_size(kept.result), 0)
           ELSE octet_length(kept.result::text) END + octet_length(name) AS bytes
    FROM atlasqueue.job_steps AS kept JOIN atlasqueue.jobs ON jobs.id = job_id WHERE job_id = ANY($1::uuid[]) AND tenant = $2
    UNION ALL 
    SELECT job_id, 'signals' AS kind, name, kept.payload AS value, kept.sent_at AS at, 
      CASE WHEN pg_column_compression(kept.payload) IS NULL THEN coalesce(pg_column_size(kept.payload), 0)
           ELSE octet_length(kept.payload::text) END + octet_length(name) AS bytes
    FROM atlasqueue.job_signals AS kept JOIN atlasqueue.jobs ON jobs.id = job_id WHERE job_id = ANY($1::uuid[]) AND tenant = $2
  ), weighed AS (
    SELECT job_id, kind, name, value, sum(bytes) OVER of_job <= 262144 AND sum(bytes) OVER of_all <= 1048576 AS fits
    FROM kept WINDOW of_job AS (PARTITION BY job_id ORDER BY at, kind, name), of_all AS (ORDER BY job_id, at, kind, name)
  )
  SELECT job_id, kind, name, CASE WHEN fits THEN value END AS value, fits FROM weighed;
