-- $1 tenant_after
-- $2 through
-- $3 tenants
-- $4 after
WITH RECURSIVE found AS (
    (SELECT tenant FROM atlasqueue.arrivals WHERE tenant > $1::text ORDER BY tenant, job_id LIMIT 1)
    UNION ALL
    SELECT next.tenant FROM found, LATERAL (
      SELECT tenant FROM atlasqueue.arrivals WHERE tenant > found.tenant ORDER BY tenant, job_id LIMIT 1) AS next
  ), these AS MATERIALIZED (
    SELECT tenant, tenant <> ALL($2::text[]) AS open FROM found LIMIT 200
  ), share AS MATERIALIZED (
    SELECT greatest(1, 200 / greatest(1, count(*) FILTER (WHERE open))) AS jobs_max FROM these
  )
  SELECT these.tenant, page.ids, coalesce(json_array_length(page.ids) = share.jobs_max, false) AS more
  FROM these CROSS JOIN share
  LEFT JOIN unnest($3::text[], $4::uuid[]) AS came_to(tenant, after) ON came_to.tenant = these.tenant
  LEFT JOIN LATERAL (
    SELECT json_agg(job_id ORDER BY job_id) AS ids FROM (
      SELECT job_id FROM atlasqueue.arrivals
      WHERE these.open AND arrivals.tenant = these.tenant AND job_id > coalesce(came_to.after, '00000000-0000-0000-0000-000000000000'::uuid)
      ORDER BY arrivals.tenant, job_id LIMIT share.jobs_max) AS of_tenant) AS page ON true
  ORDER BY these.tenant;
