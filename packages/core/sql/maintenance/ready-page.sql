-- $1 tenant
-- $2 queue
-- $3 priority
-- $4 ready_at
-- $5 id
SELECT id, tenant, queue, priority, ready
  FROM (
    SELECT * FROM (
      (SELECT tenant, queue, id, priority, to_char(ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ready, ready_at FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2 AND priority = $3::int AND (ready_at, id) > ($4::text::timestamptz, $5::uuid)
       ORDER BY priority DESC, ready_at, id LIMIT 1000)
      UNION ALL
      (SELECT tenant, queue, id, priority, to_char(ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ready, ready_at FROM atlasqueue.jobs WHERE ready_at IS NOT NULL AND tenant = $1 AND queue = $2 AND priority < $3::int
       ORDER BY priority DESC, ready_at, id LIMIT 1000)) AS ranges
    ORDER BY priority DESC, ready_at, id LIMIT 1000) AS page
  ORDER BY priority DESC, ready_at, id;
