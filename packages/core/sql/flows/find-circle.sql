-- $1 parents
-- $2 dependants
-- $3 awaited_max
-- $4 tenant
WITH RECURSIVE awaited(id) AS (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND tenant = $4
    UNION
    SELECT edge.parent FROM awaited, LATERAL (
      SELECT parent FROM atlasqueue.flow_edges WHERE child = awaited.id OFFSET 0) AS edge
  ), seen AS MATERIALIZED (
    SELECT id FROM awaited LIMIT $3::int
  )
  SELECT (SELECT count(*)::int FROM seen) AS awaited,
         (SELECT id FROM seen WHERE id = ANY($2::uuid[]) LIMIT 1) AS dependant;
