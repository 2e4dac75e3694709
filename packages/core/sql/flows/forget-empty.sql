-- $1 after_tenant
-- $2 after_id
-- $3 flows_max
WITH page AS MATERIALIZED (
    SELECT tenant, id, ctid AS lies_at FROM atlasqueue.flows WHERE (tenant, id) > ($1, $2::text::uuid) ORDER BY tenant, id LIMIT $3::int
  ), gone AS (
    DELETE FROM atlasqueue.flows WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.flows WHERE ctid = ANY(ARRAY(SELECT lies_at FROM page))
        AND NOT EXISTS (SELECT FROM atlasqueue.flow_jobs WHERE flow_id = flows.id) FOR UPDATE SKIP LOCKED))
    RETURNING id
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, 
         (SELECT json_build_object('tenant', tenant, 'id', id) FROM page ORDER BY tenant DESC, id DESC LIMIT 1) AS last,
         (SELECT count(*)::int FROM gone) AS flows;
