-- $1 tenant
-- $2 ids
-- $3 types
SELECT id, tenant, queue, priority FROM atlasqueue.jobs
  WHERE id = ANY((SELECT $2::uuid[])::uuid[]) AND tenant = $1 AND status = 'queued' AND type <> ALL($3::text[])
  ORDER BY id;
