-- $1 tenant
-- $2 queue
-- $3 after
-- $4 groups_max
WITH page AS MATERIALIZED (
    SELECT group_key FROM job_groups WHERE tenant = $1 AND queue = $2 AND group_key > $3 ORDER BY group_key LIMIT $4::int
  ), noted AS (
    INSERT INTO group_handovers (tenant, queue, group_key)
    SELECT $1, $2, page.group_key FROM page, LATERAL (
      SELECT FROM jobs WHERE tenant = $1 AND queue = $2 AND jobs.group_key = page.group_key AND blocked_seq > 0
      ORDER BY blocked_seq LIMIT 1) AS blocked
    WHERE page.group_key NOT IN (
      SELECT group_key FROM group_handovers
      WHERE tenant = $1 AND queue = $2 AND group_key > $3 AND group_key <= (SELECT max(group_key) FROM page)
      FOR KEY SHARE SKIP LOCKED)
  )
  SELECT max(group_key) AS last, count(*)::int AS groups FROM page;
