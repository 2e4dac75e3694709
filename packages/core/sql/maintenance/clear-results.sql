-- $1 after
-- $2 before
-- $3 jobs_max
-- $4 ttl_seconds
-- $5 which
WITH old AS MATERIALIZED ((
    SELECT id FROM atlasqueue.jobs WHERE $5::text = 'all'
      AND id > $1::text::uuid AND id < $2::text::uuid ORDER BY id LIMIT $3::int) UNION ALL (
    SELECT id FROM atlasqueue.jobs WHERE $5::text = 'own'
      AND id > $1::text::uuid AND id < $2::text::uuid AND (retention_seconds IS NOT NULL OR result_ttl_seconds IS NOT NULL) ORDER BY id LIMIT $3::int)), free AS MATERIALIZED (
    SELECT id, flow_id FROM atlasqueue.jobs
    WHERE id = ANY(ARRAY(SELECT id FROM old)) AND status = 'succeeded' AND result IS NOT NULL AND NOT CASE WHEN pg_column_size(result) > 8 THEN false ELSE coalesce(result::text = 'null', false) END
      AND finished_at < now() - make_interval(secs => coalesce(result_ttl_seconds, nullif($4::text, '')::float8))
      AND (has_children IS NULL OR (SELECT true FROM atlasqueue.flow_edges WHERE parent = jobs.id LIMIT 1) IS NULL)
    FOR NO KEY UPDATE SKIP LOCKED
  ), 
  waiting_flows AS MATERIALIZED (
    SELECT asked.flow_id FROM (SELECT DISTINCT flow_id FROM free WHERE flow_id IS NOT NULL) AS asked
    CROSS JOIN LATERAL (
      SELECT FROM atlasqueue.jobs WHERE flow_id >= asked.flow_id AND flow_id <= asked.flow_id AND flow_id IS NOT NULL AND (ready_at IS NOT NULL OR due_at IS NOT NULL OR group_seq IS NOT NULL)
      ORDER BY jobs.flow_id LIMIT 1) AS waiting
  ), running_flows AS MATERIALIZED (
    SELECT DISTINCT flow_id FROM atlasqueue.jobs
    WHERE (SELECT true FROM free WHERE flow_id IS NOT NULL LIMIT 1) AND id = ANY(ARRAY(SELECT unnest(job_ids) FROM atlasqueue.claims))
      AND status = 'running' AND flow_id IS NOT NULL
  ), ended AS MATERIALIZED (
    SELECT * FROM free WHERE flow_id IS NULL OR (
      flow_id NOT IN (SELECT flow_id FROM waiting_flows) AND flow_id NOT IN (SELECT flow_id FROM running_flows))
  ), cleared AS (
    UPDATE atlasqueue.jobs SET result = 'null'::json
    WHERE id = ANY(ARRAY(SELECT id FROM ended)) AND status = 'succeeded' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    RETURNING jobs.id
  )
  SELECT (SELECT count(*)::int FROM old) AS looked_at, (SELECT max(id::text) FROM old) AS last,
         (SELECT count(*)::int FROM cleared) AS jobs;
