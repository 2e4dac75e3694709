-- $1 tenant
-- $2 queue
-- $3 listed
SELECT id FROM (
    SELECT jobs.id, jobs.xmax FROM unnest($3::uuid[]) WITH ORDINALITY AS listed(id, place) JOIN atlasqueue.jobs USING (id)
    WHERE jobs.tenant = $1 AND jobs.queue = $2 AND status = 'queued' ORDER BY place OFFSET 0) AS jobs
  WHERE (jobs.xmax = '0' OR (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('tcp_user_timeout', '5000', true)) IS NOT NULL AND EXISTS (
      SELECT FROM atlasqueue.jobs AS own WHERE own.id = jobs.id FOR NO KEY UPDATE SKIP LOCKED)) LIMIT 1;
