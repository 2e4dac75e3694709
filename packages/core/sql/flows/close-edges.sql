-- $1 notes_max
WITH noted AS MATERIALIZED (
    SELECT note.ctid AS note, note.job_id, coalesce(note.after, '00000000-0000-0000-0000-000000000000') AS after, coalesce(locked.status, 'gone') AS status
    FROM flow_notes AS note
    LEFT JOIN LATERAL (SELECT true AS exists FROM jobs WHERE jobs.id = note.job_id OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT status FROM jobs WHERE jobs.id = note.job_id FOR NO KEY UPDATE SKIP LOCKED) AS locked ON true
    WHERE note.role = 'parent' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (seen.exists IS NULL OR locked.status IS NOT NULL)
    LIMIT $1::int FOR UPDATE OF note SKIP LOCKED
  ), parents AS MATERIALIZED (
    SELECT DISTINCT ON (job_id) job_id AS id, status, after, after <> first_value(after) OVER (PARTITION BY job_id ORDER BY after) AS again
    FROM noted ORDER BY job_id, after DESC
  ), looks AS MATERIALIZED (
    SELECT parents.*, coalesce((
      SELECT child FROM flow_edges WHERE parent = parents.id AND child > after
      ORDER BY child OFFSET (SELECT greatest(1, 2000 / greatest(1, count(*))) FROM parents) - 1 LIMIT 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS until
    FROM parents
  ), due AS MATERIALIZED (
    SELECT parents.id, edge.* FROM looks AS parents, LATERAL (
      SELECT flow_edges.ctid AS edge, child, (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') AS closes FROM flow_edges WHERE parent = parents.id AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') THEN true
        WHEN parents.status = 'gone' THEN NOT flow_edges.failed
        WHEN parents.status IN ('dead', 'cancelled', 'gone') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END AND child > after AND child <= until
      ORDER BY child LIMIT (SELECT greatest(1, 500 / greatest(1, count(*))) FROM parents) FOR UPDATE SKIP LOCKED) AS edge
  ), closed AS (
    DELETE FROM flow_edges WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE closes)) RETURNING parent, child
  ), marked AS (
    UPDATE flow_edges SET failed = NOT failed WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE NOT closes))
    RETURNING parent, child
  ), done AS MATERIALIZED (
    SELECT parent, child FROM closed UNION ALL SELECT parent, child FROM marked
  ), children AS (
    INSERT INTO flow_notes (job_id, role) SELECT DISTINCT child, 'child' FROM done
  ), full_shares AS MATERIALIZED (
    SELECT id, (array_agg(child ORDER BY child DESC))[1] AS reached FROM due GROUP BY id HAVING count(*) = (SELECT greatest(1, 500 / greatest(1, count(*))) FROM parents)
  ), ends AS MATERIALIZED (
    SELECT parents.id, again, until, reached, (
      SELECT child FROM flow_edges
      WHERE parent = parents.id AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') THEN true
        WHEN parents.status = 'gone' THEN NOT flow_edges.failed
        WHEN parents.status IN ('dead', 'cancelled', 'gone') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END AND child > after AND child <= until AND (parent, child) NOT IN (SELECT parent, child FROM done)
      ORDER BY child LIMIT 1) AS undone
    FROM looks AS parents LEFT JOIN full_shares ON full_shares.id = parents.id
  ), left_over AS MATERIALIZED (
    SELECT id, again, CASE WHEN undone IS NOT NULL AND reached IS NOT NULL THEN reached ELSE nullif(until, 'ffffffff-ffff-ffff-ffff-ffffffffffff') END AS next,
           coalesce(undone <= reached, undone IS NOT NULL) AS skipped
    FROM ends
  ), gone AS (
    DELETE FROM flow_notes WHERE ctid = ANY(ARRAY(SELECT note FROM noted)) RETURNING ctid
  ), back AS (
    INSERT INTO flow_notes (job_id, role, after)
    SELECT id, 'parent', next FROM left_over WHERE next IS NOT NULL
    UNION ALL SELECT id, 'parent', NULL FROM left_over WHERE again OR skipped
    RETURNING job_id
  )
  SELECT (SELECT count(*)::int FROM noted WHERE job_id NOT IN (
           SELECT id FROM left_over WHERE next IS NOT NULL OR again OR skipped)) AS notes,
         (SELECT count(*)::int FROM done) AS edges,
         EXISTS (SELECT FROM left_over WHERE next IS NOT NULL OR again OR skipped)
           OR EXISTS (SELECT FROM flow_notes WHERE role = 'parent' AND ctid NOT IN (SELECT ctid FROM gone)) AS left,
         EXISTS (SELECT FROM left_over WHERE next IS NOT NULL OR again) AS further;
