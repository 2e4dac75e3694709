-- $1 parent
-- $2 children
WITH dependants AS MATERIALIZED (
    SELECT tenant, child, on_parent_failure FROM atlasqueue.flow_edges WHERE parent = $1::uuid
  ), spawned AS MATERIALIZED (
    SELECT id, place FROM unnest($2::uuid[]) WITH ORDINALITY AS one(id, place)
  ), the_edges AS (
    INSERT INTO atlasqueue.flow_edges (tenant, parent, child, on_parent_failure)
    SELECT tenant, spawned.id, child, on_parent_failure FROM spawned, dependants
  ), described AS (
    UPDATE atlasqueue.flow_jobs SET parents = (parents::jsonb || (
      SELECT jsonb_agg(jsonb_build_object('ref', id, 'id', id) ORDER BY place) FROM spawned))::json
    WHERE job_id = ANY(ARRAY(SELECT child FROM dependants))
  )
  UPDATE atlasqueue.jobs SET has_children = true WHERE id = ANY(ARRAY(SELECT id FROM spawned));
