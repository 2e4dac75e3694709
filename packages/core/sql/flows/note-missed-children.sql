-- $1 after
-- $2 jobs_max
WITH page AS MATERIALIZED (
    SELECT job_id AS id FROM flow_jobs WHERE job_id > $1::text::uuid ORDER BY job_id LIMIT $2::int
  ), missed AS MATERIALIZED (
    SELECT page.id, tenant FROM page CROSS JOIN LATERAL (
      SELECT tenant FROM jobs WHERE jobs.id = page.id AND status = 'blocked' AND (SELECT blocked_seq) = 0 OFFSET 0) AS job
    WHERE (SELECT true FROM flow_edges WHERE child = page.id LIMIT 1) IS NULL
      AND (SELECT true FROM arrivals WHERE arrivals.job_id = page.id) IS NULL
  ), noted AS (
    INSERT INTO flow_notes (job_id, role, tenant) SELECT id, 'child', tenant FROM missed
    WHERE id NOT IN (SELECT job_id FROM flow_notes WHERE role = 'child') RETURNING job_id
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT max(id::text) FROM page) AS last,
         (SELECT count(*)::int FROM noted) AS notes;
