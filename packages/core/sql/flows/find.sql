-- $1 tenant
-- $2 id
SELECT flows.id, flows.created_at, counted.* FROM atlasqueue.flows CROSS JOIN LATERAL (
    SELECT coalesce(sum(count), 0)::int AS jobs, json_object_agg(status, count) AS counts, max(finished_at) AS finished_at
    FROM (
      SELECT status, count(*)::int AS count, max(finished_at) AS finished_at
      FROM atlasqueue.flow_jobs JOIN atlasqueue.jobs ON jobs.id = flow_jobs.job_id AND jobs.tenant = flows.tenant
      WHERE flow_jobs.flow_id = flows.id GROUP BY status
    ) AS each
  ) AS counted
  WHERE flows.tenant = $1 AND flows.id = $2::text::uuid;
