-- $1 after_parent
-- $2 after_child
-- $3 edges_max
WITH page AS MATERIALIZED (
    SELECT parent, child, on_parent_failure, failed FROM flow_edges
    WHERE (parent, child) > ($1::text::uuid, $2::text::uuid) ORDER BY parent, child LIMIT $3::int
  ), parents AS MATERIALIZED (
    SELECT asked.id, coalesce(job.status, 'gone') AS status, coalesce(job.tenant, '') AS tenant
    FROM (SELECT DISTINCT parent AS id FROM page) AS asked
    LEFT JOIN LATERAL (SELECT status, tenant FROM jobs WHERE jobs.id = asked.id OFFSET 0) AS job ON true
  ), missed AS MATERIALIZED (
    SELECT DISTINCT parents.id, tenant FROM parents JOIN page ON parent = parents.id AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') THEN true
        WHEN parents.status = 'gone' THEN NOT page.failed
        WHEN parents.status IN ('dead', 'cancelled', 'gone') THEN on_parent_failure = 'cancel' AND NOT page.failed
        ELSE page.failed END
  ), noted AS (
    INSERT INTO flow_notes (job_id, role, tenant) SELECT id, 'parent', tenant FROM missed
    WHERE id NOT IN (SELECT job_id FROM flow_notes WHERE role = 'parent') RETURNING job_id
  )
  SELECT (SELECT count(*)::int FROM page) AS looked_at, (SELECT count(*)::int FROM noted) AS notes,
         (SELECT json_build_object('parent', parent, 'child', child) FROM page ORDER BY parent DESC, child DESC LIMIT 1) AS last;
