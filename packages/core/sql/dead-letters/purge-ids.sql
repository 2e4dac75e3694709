-- $1 tenant
-- $2 ids
-- $3 until_us
WITH 
  page AS MATERIALIZED (
    SELECT id, dead_at FROM (
      SELECT id, dead_at, tenant = $1 AND dead_at <= ('epoch'::timestamptz + $3::float8 * interval '1 microsecond') AS found FROM jobs WHERE id = ANY((SELECT $2::uuid[])::uuid[]) ORDER BY dead_at, id LIMIT 20000
    ) AS stretch WHERE found ORDER BY dead_at, id LIMIT 500),  taken AS MATERIALIZED (
    SELECT id, tenant, queue, group_key, status, dead_at FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM page)) AND tenant = $1 AND dead_at <= ('epoch'::timestamptz + $3::float8 * interval '1 microsecond') AND true
    FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM taken)) RETURNING id, tenant, queue
  ), attempts AS (
    DELETE FROM job_attempts WHERE job_id = ANY(ARRAY(SELECT id FROM taken))
  ), counted AS (
    INSERT INTO queue_changes (tenant, queue, dead)
    SELECT tenant, queue, -count(*) FROM gone GROUP BY tenant, queue
  )
  SELECT (SELECT count(*)::int FROM page) AS found, NULL AS reached, (SELECT json_agg(id) FROM gone) AS ids;
