-- $1 tenant
-- $2 lease_token
-- $3 queue
SELECT used.worker_id AS claimed_by, used.other_queue, held.*
  FROM (
    SELECT worker_id, job_ids, (
      SELECT queue FROM atlasqueue.jobs WHERE id = ANY(job_ids) AND tenant = $1 AND $3 <> '' AND queue <> $3 LIMIT 1) AS other_queue
    FROM atlasqueue.claims WHERE token = $2::uuid AND tenant = $1
  ) AS used LEFT JOIN LATERAL (
    SELECT *, date_part('epoch', locked_until - statement_timestamp()) * 1000 AS left_ms FROM atlasqueue.jobs
    WHERE id = ANY(used.job_ids) AND tenant = $1 AND lease_token = $2::uuid AND status = 'running'
  ) AS held ON true
  ORDER BY held.id;
