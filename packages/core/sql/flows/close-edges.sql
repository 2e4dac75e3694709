-- $1 parents
WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS asked(id uuid, tenant text, after uuid)
  ), parents AS MATERIALIZED (
    SELECT asked.*, job.*, greatest(1, 500 / (
             count(*) OVER (PARTITION BY tenant) * (SELECT count(DISTINCT tenant) FROM asked))) AS share
    FROM asked
    CROSS JOIN LATERAL (SELECT status, queue, priority FROM atlasqueue.jobs WHERE jobs.id = asked.id OFFSET 0) AS job
  ), looks AS MATERIALIZED (
    SELECT parents.id, status, edge.* FROM parents CROSS JOIN LATERAL (
      SELECT child, CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled') AND on_parent_failure = 'run') THEN true
        WHEN parents.status IN ('dead', 'cancelled') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END AS due FROM atlasqueue.flow_edges
      WHERE parent = parents.id AND child > parents.after ORDER BY child LIMIT parents.share) AS edge
  ), due AS MATERIALIZED (
    SELECT edge.* FROM looks AS parents CROSS JOIN LATERAL (
      SELECT ctid AS edge, (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled') AND on_parent_failure = 'run') AS closes FROM atlasqueue.flow_edges
      WHERE parent = parents.id AND child = parents.child AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled') AND on_parent_failure = 'run') THEN true
        WHEN parents.status IN ('dead', 'cancelled') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END FOR UPDATE SKIP LOCKED) AS edge
    WHERE parents.due
  ), closed AS (
    DELETE FROM atlasqueue.flow_edges WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE closes)) RETURNING parent, child
  ), marked AS (
    UPDATE atlasqueue.flow_edges SET failed = NOT failed WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE NOT closes))
    RETURNING parent, child
  ), done AS MATERIALIZED (
    SELECT parent, child, tenant FROM (SELECT * FROM closed UNION ALL SELECT * FROM marked) AS edge JOIN parents ON parents.id = edge.parent
  ), rechecks AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT DISTINCT 'recheck_child', tenant, child::text FROM done
  )
  SELECT id, tenant, queue, priority, status = 'queued' AS is_ready, skipped, CASE WHEN (SELECT true FROM atlasqueue.flow_edges WHERE parent = id AND child > reached LIMIT 1) THEN reached END AS reached
  FROM (
    SELECT parents.id, parents.tenant, queue, priority, parents.status, (array_agg(child ORDER BY child DESC))[1] AS reached,
           coalesce(bool_or(due AND (id, child) NOT IN (SELECT parent, child FROM done)), false) AS skipped
    FROM parents LEFT JOIN (SELECT id, child, due FROM looks) AS looked USING (id)
    GROUP BY parents.id, parents.tenant, queue, priority, parents.status) AS looked;
