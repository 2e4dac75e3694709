-- $1 tenant
-- $2 after_type
-- $3 after_fingerprint
-- $4 groups_max
-- $5 jobs_max
-- $6 type
WITH RECURSIVE found AS (
    SELECT type, error_fingerprint, 1 AS place FROM (
      SELECT type, error_fingerprint FROM atlasqueue.jobs WHERE tenant = $1 AND dead_at IS NOT NULL AND error_fingerprint IS NOT NULL AND (type, error_fingerprint) > ($2, $3)
      ORDER BY type, error_fingerprint, dead_at, id LIMIT 1
    ) AS first_group WHERE $6 IN ('', type)
    UNION ALL
    SELECT following.type, following.error_fingerprint, found.place + 1
    FROM found CROSS JOIN LATERAL (
      SELECT type, error_fingerprint FROM atlasqueue.jobs WHERE tenant = $1 AND dead_at IS NOT NULL AND error_fingerprint IS NOT NULL AND (jobs.type, jobs.error_fingerprint) > (found.type, found.error_fingerprint)
      ORDER BY type, error_fingerprint, dead_at, id LIMIT 1
    ) AS following
    WHERE found.place < $4::int AND $6 IN ('', following.type)
  ), sized AS MATERIALIZED (
    SELECT type, error_fingerprint, EXISTS (
      SELECT FROM atlasqueue.jobs WHERE tenant = $1 AND dead_at IS NOT NULL AND error_fingerprint IS NOT NULL AND jobs.type = found.type AND jobs.error_fingerprint = found.error_fingerprint ORDER BY dead_at DESC, id DESC OFFSET (SELECT $5::int / count(*) FROM found) LIMIT 1
    ) AS large FROM found
  ), shared AS MATERIALIZED (
    SELECT greatest($5::int / greatest(count(*) FILTER (WHERE large), 1), 1) AS jobs_max FROM sized
  )
  SELECT found.type, found.error_fingerprint AS fingerprint, counted.count, counted.ago,
         NOT found.large OR counted.count < shared.jobs_max AS count_complete,
         oldest.dead_at AS first_seen, newest.dead_at AS last_seen, newest.id AS sample_job_id, newest.last_error
  FROM sized AS found CROSS JOIN shared CROSS JOIN LATERAL (
    SELECT sum(count)::int AS count, json_object_agg(ago, count) FILTER (WHERE ago IS NOT NULL) AS ago FROM (
      SELECT ago, count(*) AS count FROM (
        SELECT CASE WHEN dead_at > now() - interval '24 hours'
          THEN least(floor(extract(epoch FROM now() - dead_at) / 3600), 23)::int END AS ago
        FROM atlasqueue.jobs WHERE tenant = $1 AND dead_at IS NOT NULL AND error_fingerprint IS NOT NULL AND jobs.type = found.type AND jobs.error_fingerprint = found.error_fingerprint ORDER BY dead_at DESC, id DESC LIMIT shared.jobs_max
      ) AS each GROUP BY ago
    ) AS by_hour
  ) AS counted CROSS JOIN LATERAL (
    SELECT dead_at FROM atlasqueue.jobs WHERE tenant = $1 AND dead_at IS NOT NULL AND error_fingerprint IS NOT NULL AND jobs.type = found.type AND jobs.error_fingerprint = found.error_fingerprint ORDER BY dead_at, id LIMIT 1
  ) AS oldest CROSS JOIN LATERAL (
    SELECT id, dead_at, last_error FROM atlasqueue.jobs WHERE tenant = $1 AND dead_at IS NOT NULL AND error_fingerprint IS NOT NULL AND jobs.type = found.type AND jobs.error_fingerprint = found.error_fingerprint ORDER BY dead_at DESC, id DESC LIMIT 1
  ) AS newest
  ORDER BY found.type, found.error_fingerprint;
