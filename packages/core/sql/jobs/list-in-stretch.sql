-- $1 below
-- $2 tenant
-- $3 queue
-- $4 type
-- $5 status
-- $6 group
-- $7 jobs_max
-- $8 fingerprint
-- $9 above
-- $10 worker
-- $11 stretch_jobs_max
WITH page AS MATERIALIZED (
    SELECT id FROM (
      SELECT id, tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR status = $5)
    AND ($6 = '' OR group_key = $6) AND ($8 = '' OR error_fingerprint = $8) AND ($10 = '' OR (worker_id = $10 AND status = 'running')) AS found FROM jobs WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY id DESC LIMIT $11::int) AS stretch
    WHERE found LIMIT $7::int
  )
  SELECT jobs.*, ends.last, false AS too_many FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) < $7::int THEN (
      SELECT id::text FROM jobs WHERE id < $1::uuid AND id > $9::text::uuid ORDER BY jobs.id DESC OFFSET $11::int - 1 LIMIT 1) END AS last
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page))) AS jobs ON true
  ORDER BY jobs.id DESC;
