-- $1 after
-- $2 flows_max
WITH page AS MATERIALIZED (
    SELECT id FROM atlasqueue.flows WHERE id > $1::text::uuid ORDER BY id LIMIT $2::int
  ), gone AS (
    DELETE FROM atlasqueue.flows WHERE id = ANY(ARRAY(
      SELECT id FROM atlasqueue.flows WHERE id = ANY(ARRAY(SELECT id FROM page))
        AND NOT EXISTS (SELECT FROM atlasqueue.flow_jobs WHERE flow_id = flows.id) FOR UPDATE SKIP LOCKED))
    RETURNING id
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT max(id::text) FROM page) AS last,
         (SELECT count(*)::int FROM gone) AS flows;
