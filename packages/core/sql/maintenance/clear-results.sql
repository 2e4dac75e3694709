-- $1 after
-- $2 before
-- $3 jobs_max
-- $4 ttl_seconds
WITH old AS MATERIALIZED (
    SELECT id FROM jobs WHERE id > $1::text::uuid AND id < $2::text::uuid ORDER BY id LIMIT $3::int
  ), free AS MATERIALIZED (
    SELECT id, flow_id FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND status = 'succeeded' AND result IS NOT NULL
      AND finished_at < now() - make_interval(secs => $4::float8)
      AND (has_children IS NULL OR NOT EXISTS (SELECT FROM flow_edges WHERE parent = jobs.id))
    FOR NO KEY UPDATE SKIP LOCKED
  ), 
  open_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM free WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM flow_jobs AS member CROSS JOIN LATERAL (
        SELECT status FROM jobs WHERE jobs.id = member.job_id OFFSET 0) AS job
      WHERE member.flow_id = asked.flow_id AND status NOT IN ('succeeded', 'dead', 'cancelled')
      ORDER BY member.place DESC LIMIT 1) AS open
  ), ended AS MATERIALIZED (
    SELECT * FROM free WHERE flow_id IS NULL OR flow_id NOT IN (SELECT flow_id FROM open_flows)
  ), cleared AS (
    UPDATE jobs SET result = NULL
    WHERE id = ANY(ARRAY(SELECT id FROM ended)) AND status = 'succeeded' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    RETURNING jobs.id
  )
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM cleared) AS jobs;
