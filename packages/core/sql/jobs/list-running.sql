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
WITH few AS MATERIALIZED ((SELECT unnest(job_ids) AS id FROM lease_batches LIMIT 100001)), page AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE id = ANY(ARRAY(SELECT id FROM few WHERE id < $1::uuid AND id > $9::text::uuid AND (SELECT count(*) FROM few) <= 100000)) AND tenant = $2 AND ($3 = '' OR queue = $3) AND ($4 = '' OR type = $4) AND ($5 = '' OR status = $5)
    AND ($6 = '' OR group_key = $6) AND ($8 = '' OR error_fingerprint = $8) AND ($10 = '' OR (worker_id = $10 AND status = 'running'))
    ORDER BY id DESC LIMIT $7::int
  )
  SELECT jobs.*, NULL AS last, ends.too_many FROM (
    SELECT count(*) > 100000 AS too_many FROM few
  ) AS ends LEFT JOIN (SELECT * FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM page))) AS jobs ON true
  ORDER BY jobs.id DESC;
