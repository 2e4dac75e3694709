-- $1 tenant
-- $2 ids
SELECT job.* FROM unnest($2::uuid[]) WITH ORDINALITY AS taken(id, place), LATERAL (
    SELECT id, tenant, queue, priority FROM jobs WHERE jobs.id = taken.id AND tenant = $1 AND status = 'queued' OFFSET 0) AS job
  ORDER BY place;
