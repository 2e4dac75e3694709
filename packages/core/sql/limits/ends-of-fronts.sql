-- $1 tenant
-- $2 queues
SELECT place.* FROM unnest($2::text[]) AS wanted(queue), LATERAL (
    SELECT queue, id, priority, to_char(ready_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ready FROM atlasqueue.jobs
    WHERE ready_at IS NOT NULL AND tenant = $1 AND jobs.queue = wanted.queue
    ORDER BY priority DESC, ready_at, id LIMIT 1 OFFSET 4999) AS place
  ORDER BY random() LIMIT 4;
