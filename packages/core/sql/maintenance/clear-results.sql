-- $1 after
-- $2 before
-- $3 jobs_max
-- $4 ttl_seconds
WITH old AS MATERIALIZED (
    SELECT id FROM jobs WHERE id > $1::text::uuid AND id < $2::text::uuid ORDER BY id LIMIT $3::int
  ), free AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND status = 'succeeded' AND result IS NOT NULL
      AND finished_at < now() - make_interval(secs => $4::float8)
      AND (has_children IS NULL OR NOT EXISTS (SELECT FROM flow_edges WHERE parent = jobs.id))
    FOR NO KEY UPDATE SKIP LOCKED
  ), cleared AS (
    UPDATE jobs SET result = NULL
    WHERE id = ANY(ARRAY(SELECT id FROM free)) AND status = 'succeeded' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    RETURNING jobs.id
  )
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM cleared) AS jobs;
