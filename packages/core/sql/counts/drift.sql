-- $1 jobs_max
WITH looked AS MATERIALIZED (SELECT tenant, queue, status FROM atlasqueue.jobs LIMIT $1::int + 1),
  total AS (SELECT count(*)::int AS jobs FROM looked),
  truth AS (SELECT tenant, queue, status, count(*) AS jobs FROM looked GROUP BY tenant, queue, status),
  kept AS (
    SELECT tenant, queue, status, sum(jobs) AS jobs
    FROM (SELECT tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_counts UNION ALL SELECT tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_changes) AS known,
         LATERAL (VALUES ('scheduled', scheduled), ('blocked', blocked), ('queued', queued), ('running', running), ('failed', failed), ('succeeded', succeeded), ('dead', dead), ('cancelled', cancelled)) AS of(status, jobs)
    GROUP BY tenant, queue, status
  ), drifted AS (
    SELECT tenant, queue, status, coalesce(kept.jobs, 0)::float8 AS kept, coalesce(truth.jobs, 0)::float8 AS real
    FROM kept FULL JOIN truth USING (tenant, queue, status)
    WHERE coalesce(kept.jobs, 0) <> coalesce(truth.jobs, 0) AND (SELECT jobs FROM total) <= $1::int
  ), first AS (SELECT * FROM drifted ORDER BY tenant, queue, status LIMIT 20)
  SELECT jobs, (SELECT count(*)::int FROM drifted) AS places, (SELECT json_agg(first) FROM first) AS drifted
  FROM total;
