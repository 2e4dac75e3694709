-- $1 first_tenant
-- $2 last_tenant
-- $3 queue
SELECT coalesce(sum(scheduled), 0)::float8 AS scheduled, coalesce(sum(blocked), 0)::float8 AS blocked, coalesce(sum(queued), 0)::float8 AS queued, coalesce(sum(running), 0)::float8 AS running, coalesce(sum(failed), 0)::float8 AS failed, coalesce(sum(succeeded), 0)::float8 AS succeeded, coalesce(sum(dead), 0)::float8 AS dead, coalesce(sum(cancelled), 0)::float8 AS cancelled
  FROM (SELECT scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_counts WHERE tenant BETWEEN $1 AND $2 AND ($3 = '' OR queue = $3) UNION ALL SELECT scheduled, blocked, queued, running, failed, succeeded, dead, cancelled FROM atlasqueue.queue_changes WHERE tenant BETWEEN $1 AND $2 AND ($3 = '' OR queue = $3)) AS known;
