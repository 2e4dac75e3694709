-- $1 tenant
-- $2 queue
-- $3 statuses
-- $4 below
-- $5 skip
-- $6 take
WITH stretch AS MATERIALIZED (
    SELECT id, tenant = $1 AND ($2 = '' OR queue = $2) AND status = ANY($3::text[]) AS found FROM atlasqueue.jobs WHERE id < $4::uuid ORDER BY id DESC LIMIT 20000
  )
  SELECT to_json(ARRAY(SELECT id FROM stretch WHERE found ORDER BY id DESC OFFSET $5::int LIMIT $6::int)) AS ids,
         (count(*) FILTER (WHERE found))::int AS found,
         CASE WHEN count(*) = 20000 THEN min(id::text) END AS last
  FROM stretch;
