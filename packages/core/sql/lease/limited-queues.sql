-- $1 tenant
-- $2 queues
-- $3 ids
WITH given AS MATERIALIZED (
    SELECT queue, json_agg(id) AS ids FROM atlasqueue.jobs
    WHERE id = ANY((SELECT $3::uuid[])::uuid[]) AND tenant = $1 AND status = 'queued' GROUP BY queue
  ), limited AS (SELECT queue, xmax::text AS holder 
  FROM atlasqueue.queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND (concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL) AND queue = ANY(ARRAY(SELECT queue FROM given)))
  SELECT * FROM limited JOIN given USING (queue);
