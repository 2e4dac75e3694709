-- $1 tenant
-- $2 below
-- $3 flows_max
-- $4 from
WITH RECURSIVE one(id) AS (
    (SELECT flow_id FROM atlasqueue.flow_jobs
     WHERE tenant = $1 AND flow_id BETWEEN $4::text::uuid AND $2::text::uuid AND (flow_id < $2::text::uuid OR flow_id = $4::text::uuid)
     ORDER BY flow_id DESC LIMIT 1)
    UNION ALL
    SELECT (SELECT flow_id FROM atlasqueue.flow_jobs WHERE tenant = $1 AND flow_id >= $4::text::uuid AND flow_id < one.id ORDER BY flow_id DESC LIMIT 1)
    FROM one WHERE one.id IS NOT NULL
  ), page AS MATERIALIZED (
    SELECT id, $1 AS tenant FROM one WHERE id IS NOT NULL LIMIT $3::int
  )
  SELECT page.id, counted.* FROM page CROSS JOIN LATERAL (
    SELECT coalesce(sum(count), 0)::int AS jobs, json_object_agg(status, count) AS counts, max(finished_at) AS finished_at
    FROM (
      SELECT status, count(*)::int AS count, max(finished_at) AS finished_at
      FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = page.tenant
      WHERE flow_jobs.tenant = page.tenant AND flow_jobs.flow_id = page.id GROUP BY status
    ) AS each
  ) AS counted ORDER BY page.id DESC;
