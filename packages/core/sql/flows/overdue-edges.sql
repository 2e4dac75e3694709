-- $1 overdue_ms
-- $2 edges_max
WITH page AS MATERIALIZED (
    SELECT parent, child, on_parent_failure, failed FROM atlasqueue.flow_edges LIMIT $2::int
  ), parents AS MATERIALIZED (
    SELECT job.id, job.status
    FROM (SELECT DISTINCT parent AS id FROM page) AS asked, LATERAL (
      SELECT id, status FROM atlasqueue.jobs
      WHERE jobs.id = asked.id AND finished_at < now() - $1::float8 * interval '1 millisecond' OFFSET 0) AS job
  ), overdue AS (
    SELECT page.parent, page.child FROM parents JOIN page ON CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled') AND on_parent_failure = 'run') THEN true
        WHEN parents.status IN ('dead', 'cancelled') THEN on_parent_failure = 'cancel' AND NOT page.failed
        ELSE page.failed END
  )
  SELECT count(*)::int AS count,
         (SELECT json_build_object('parent', parent, 'child', child) FROM overdue LIMIT 1) AS sample
  FROM overdue;
