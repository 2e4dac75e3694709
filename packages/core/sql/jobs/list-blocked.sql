-- $1 below
-- $2 tenant
-- $3 queue
-- $4 type
-- $5 status
-- $6 group
-- $7 jobs_max
WITH few AS MATERIALIZED ((SELECT id FROM jobs WHERE blocked_seq IS NOT NULL AND tenant = $2 AND ($3 = '' OR queue = $3) LIMIT 100001)), page AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM few WHERE id < $1::uuid AND (SELECT count(*) FROM few) <= 100000)) AND tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR status = $5)
    AND ($6 = '' OR group_key = $6)
    ORDER BY id DESC LIMIT $7::int
  )
  SELECT jobs.*, NULL AS last, ends.too_many FROM (
    SELECT count(*) > 100000 AS too_many FROM few
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page))) AS jobs ON true
  ORDER BY jobs.id DESC;
