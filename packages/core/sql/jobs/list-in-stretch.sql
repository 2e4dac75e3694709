-- $1 below
-- $2 tenant
-- $3 queue
-- $4 type
-- $5 status
-- $6 group
-- $7 jobs_max
-- $8 stretch_jobs_max
WITH stretch AS MATERIALIZED (
    SELECT id, tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR status = $5)
    AND ($6 = '' OR group_key = $6) AS found FROM jobs WHERE id < $1::uuid ORDER BY id DESC LIMIT $8::int
  ), page AS MATERIALIZED (
    SELECT id FROM stretch WHERE found ORDER BY id DESC LIMIT $7::int
  )
  SELECT jobs.*, ends.last, false AS too_many FROM (
    SELECT CASE WHEN count(*) = $8::int THEN min(id::text) END AS last FROM stretch
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page))) AS jobs ON true
  ORDER BY jobs.id DESC;
