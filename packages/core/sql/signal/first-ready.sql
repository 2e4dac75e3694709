-- $1 tenant
-- $2 queue
-- $3 listed
SELECT jobs.id FROM unnest($3::uuid[]) WITH ORDINALITY AS listed(id, place) JOIN atlasqueue.jobs USING (id)
  WHERE jobs.tenant = $1 AND jobs.queue = $2 AND status = 'queued' ORDER BY place LIMIT 1;
