-- $1 tenant
-- $2 below
-- $3 flows_max
-- $4 from
WITH page AS MATERIALIZED (
    SELECT id, tenant, created_at FROM atlasqueue.flows
    WHERE tenant = $1 AND id BETWEEN $4::text::uuid AND $2::text::uuid AND (id < $2::text::uuid OR id = $4::text::uuid)
    ORDER BY id DESC LIMIT $3::int
  )
  SELECT page.id, page.created_at, counted.* FROM page CROSS JOIN LATERAL (
    SELECT coalesce(sum(count), 0)::int AS jobs, json_object_agg(status, count) AS counts, max(finished_at) AS finished_at
    FROM (
      SELECT status, count(*)::int AS count, max(finished_at) AS finished_at
      FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = page.tenant
      WHERE flow_jobs.flow_id = page.id GROUP BY status
    ) AS each
  ) AS counted
  ORDER BY page.id DESC;
