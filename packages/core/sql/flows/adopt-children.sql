-- $1 parent
-- $2 children
-- $3 new_flow_id
WITH begun AS (
    UPDATE atlasqueue.jobs SET flow_id = nullif($3, '')::uuid WHERE id = $1::uuid AND $3 <> '' RETURNING tenant
  ), spawner AS (
    INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, on_parent_failure, parents)
    SELECT tenant, $1::uuid, nullif($3, '')::uuid, 0, 'cancel', '[]' FROM begun
  ), spawned AS MATERIALIZED (
    SELECT id, place FROM unnest($2::uuid[]) WITH ORDINALITY AS one(id, place)
  ), dependants AS MATERIALIZED (
    SELECT tenant, child, on_parent_failure FROM atlasqueue.flow_edges
    WHERE parent = $1::uuid AND EXISTS (SELECT FROM spawned)
  ), the_edges AS (
    INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure)
    SELECT tenant, spawned.id, child, on_parent_failure FROM spawned, dependants
  ), described AS (
    UPDATE atlasqueue.flow_jobs SET parents = (parents::jsonb || (
      SELECT jsonb_agg(jsonb_build_object('ref', id, 'id', id) ORDER BY place) FROM spawned))::json
    WHERE job_id = ANY(ARRAY(SELECT child FROM dependants))
  )
  UPDATE atlasqueue.jobs SET has_children = true WHERE id = ANY(ARRAY(SELECT id FROM spawned));
