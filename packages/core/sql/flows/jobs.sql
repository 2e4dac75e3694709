-- $1 tenant
-- $2 id
-- $3 after
-- $4 jobs_max
WITH shown AS MATERIALIZED (
    SELECT jobs.id, place, ref, type, queue, status, on_parent_failure, attempts, max_attempts, parents,
           left(last_error, 500) AS last_error, started_at, finished_at
    FROM flow_jobs JOIN jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = $1
    WHERE flow_jobs.flow_id = $2::text::uuid AND place > $3::int ORDER BY place LIMIT $4::int
  ), page AS MATERIALIZED (
    SELECT *, 
      CASE WHEN pg_column_compression(parents) IS NULL THEN coalesce(pg_column_size(parents), 0)
           ELSE octet_length(parents::text) END + coalesce(octet_length(last_error), 0) AS bytes FROM shown
  ), fitting AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, coalesce(sum(bytes) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
      FROM page) AS weighed
    WHERE before < 4194304
  )
  SELECT id, place, ref, type, queue, status, on_parent_failure, attempts, max_attempts, parents, last_error, started_at, finished_at, (SELECT count(*) FROM fitting) < (SELECT count(*) FROM page) AS cut FROM fitting ORDER BY place;
