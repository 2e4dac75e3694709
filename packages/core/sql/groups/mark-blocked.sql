-- $1 tenant
-- $2 queue
-- $3 after
-- $4 groups_max
WITH page AS MATERIALIZED (
    SELECT group_key FROM atlasqueue.job_groups WHERE tenant = $1 AND queue = $2 AND group_key > $3 ORDER BY group_key LIMIT $4::int
  ), free AS MATERIALIZED (
    SELECT locked.spot FROM page CROSS JOIN LATERAL (
      SELECT FROM atlasqueue.jobs WHERE tenant = $1 AND queue = $2 AND jobs.group_key = page.group_key AND group_seq > 0
      ORDER BY group_seq LIMIT 1) AS blocked
    CROSS JOIN LATERAL (
      SELECT ctid AS spot FROM atlasqueue.job_groups
      WHERE tenant = $1 AND queue = $2 AND job_groups.group_key = page.group_key AND overdue_at IS NULL
      FOR UPDATE SKIP LOCKED) AS locked
  ), marked AS (
    UPDATE atlasqueue.job_groups SET overdue_at = now() WHERE ctid = ANY(ARRAY(SELECT spot FROM free))
  )
  SELECT max(group_key) AS last, count(*)::int AS groups FROM page;
