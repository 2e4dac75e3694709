-- $1 notes_max
WITH noted AS MATERIALIZED (
    SELECT note.ctid AS note, note.job_id, coalesce(locked.status, 'gone') AS status
    FROM flow_notes AS note
    LEFT JOIN LATERAL (SELECT true AS exists FROM jobs WHERE jobs.id = note.job_id OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT status FROM jobs WHERE jobs.id = note.job_id FOR NO KEY UPDATE SKIP LOCKED) AS locked ON true
    WHERE note.role = 'parent' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (seen.exists IS NULL OR locked.status IS NOT NULL)
    LIMIT $1::int FOR UPDATE OF note SKIP LOCKED
  ), parents AS MATERIALIZED (
    SELECT DISTINCT job_id AS id, status FROM noted
  ), due AS MATERIALIZED (
    SELECT edge.* FROM parents, LATERAL (
      SELECT flow_edges.ctid AS edge, (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') AS closes FROM flow_edges WHERE parent = parents.id AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') THEN true
        WHEN parents.status = 'gone' THEN NOT flow_edges.failed
        WHEN parents.status IN ('dead', 'cancelled', 'gone') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END
      LIMIT (SELECT greatest(1, 500 / greatest(1, count(*))) FROM parents) FOR UPDATE SKIP LOCKED) AS edge
  ), closed AS (
    DELETE FROM flow_edges WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE closes)) RETURNING parent, child
  ), marked AS (
    UPDATE flow_edges SET failed = NOT failed WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE NOT closes))
    RETURNING parent, child
  ), done AS MATERIALIZED (
    SELECT parent, child FROM closed UNION ALL SELECT parent, child FROM marked
  ), children AS (
    INSERT INTO flow_notes (job_id, role) SELECT DISTINCT child, 'child' FROM done
  ), undone AS MATERIALIZED (
    SELECT id FROM parents WHERE EXISTS (
      SELECT FROM flow_edges WHERE parent = parents.id AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') THEN true
        WHEN parents.status = 'gone' THEN NOT flow_edges.failed
        WHEN parents.status IN ('dead', 'cancelled', 'gone') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END AND (parent, child) NOT IN (SELECT parent, child FROM done))
  ), gone AS (
    DELETE FROM flow_notes WHERE ctid = ANY(ARRAY(SELECT note FROM noted)) RETURNING ctid
  ), again AS (
    INSERT INTO flow_notes (job_id, role) SELECT id, 'parent' FROM undone RETURNING job_id
  )
  SELECT (SELECT count(*)::int FROM noted WHERE job_id NOT IN (SELECT id FROM undone)) AS notes,
         (SELECT count(*)::int FROM done) AS edges, EXISTS (SELECT FROM undone)
           OR EXISTS (SELECT FROM flow_notes WHERE role = 'parent' AND ctid NOT IN (SELECT ctid FROM gone)) AS left;
