-- $1 notes_max
-- $2 places
WITH RECURSIVE lines(tenant) AS (
    (SELECT tenant FROM flow_notes WHERE role = 'parent' ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM flow_notes WHERE role = 'parent' AND tenant > lines.tenant ORDER BY tenant LIMIT 1)
    FROM lines WHERE tenant IS NOT NULL
  ), turns AS MATERIALIZED (
    SELECT tenant, greatest(1, $1::int / count(*) OVER ()) AS share FROM lines WHERE tenant IS NOT NULL
    ORDER BY random() LIMIT $1::int
  ), places AS MATERIALIZED (
    SELECT * FROM json_to_recordset($2::text::json) AS place(tenant text, note tid, round_end tid)
  ), page AS MATERIALIZED (
    SELECT one.*, share, coalesce(round_end, (SELECT format('(%s,0)', pg_relation_size('flow_notes') / current_setting('block_size')::int)::tid)) AS round_end
    FROM turns LEFT JOIN places ON places.tenant = turns.tenant CROSS JOIN LATERAL (
      SELECT ctid AS note, job_id, tenant, after FROM flow_notes
      WHERE role = 'parent' AND tenant = turns.tenant AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND ctid > coalesce(places.note, '(0,0)')
      LIMIT share FOR UPDATE SKIP LOCKED) AS one
  ), page_ends AS (
    SELECT DISTINCT ON (tenant) tenant, note, round_end,
           note < round_end AND count(*) OVER (PARTITION BY tenant) = share AS further
    FROM page ORDER BY tenant, note DESC
  ), noted AS MATERIALIZED (
    SELECT note, job_id, tenant, coalesce(after, '00000000-0000-0000-0000-000000000000') AS after, coalesce(locked.status, 'gone') AS status FROM page
    LEFT JOIN LATERAL (SELECT true AS exists FROM jobs WHERE jobs.id = page.job_id OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT status FROM jobs WHERE jobs.id = page.job_id FOR NO KEY UPDATE SKIP LOCKED) AS locked ON true
    WHERE seen.exists IS NULL OR locked.status IS NOT NULL
  ), parents AS MATERIALIZED (
    SELECT *, count(*) OVER (PARTITION BY tenant) * (SELECT count(DISTINCT tenant) FROM noted) AS sharers FROM (
      SELECT DISTINCT ON (job_id) job_id AS id, tenant, status, after,
             after <> first_value(after) OVER (PARTITION BY job_id ORDER BY after) AS again
      FROM noted ORDER BY job_id, after DESC) AS parent
  ), looks AS MATERIALIZED (
    SELECT parents.*, coalesce((
      SELECT child FROM flow_edges WHERE parent = parents.id AND child > after
      ORDER BY child OFFSET greatest(1, 2000 / parents.sharers) - 1 LIMIT 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS until
    FROM parents
  ), due AS MATERIALIZED (
    SELECT parents.id, sharers, edge.* FROM looks AS parents, LATERAL (
      SELECT flow_edges.ctid AS edge, child, (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') AS closes FROM flow_edges WHERE parent = parents.id AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') THEN true
        WHEN parents.status = 'gone' THEN NOT flow_edges.failed
        WHEN parents.status IN ('dead', 'cancelled', 'gone') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END AND child > after AND child <= until
      ORDER BY child LIMIT greatest(1, 500 / parents.sharers) FOR UPDATE SKIP LOCKED) AS edge
  ), closed AS (
    DELETE FROM flow_edges WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE closes)) RETURNING parent, child
  ), marked AS (
    UPDATE flow_edges SET failed = NOT failed WHERE ctid = ANY(ARRAY(SELECT edge FROM due WHERE NOT closes))
    RETURNING parent, child
  ), done AS MATERIALIZED (
    SELECT parent, child, tenant FROM (SELECT * FROM closed UNION ALL SELECT * FROM marked) AS edge JOIN looks ON looks.id = edge.parent
  ), children AS (
    INSERT INTO flow_notes (job_id, role, tenant) SELECT DISTINCT child, 'child', tenant FROM done
  ), full_shares AS MATERIALIZED (
    SELECT id, (array_agg(child ORDER BY child DESC))[1] AS reached FROM due AS parents GROUP BY id, sharers HAVING count(*) = greatest(1, 500 / parents.sharers)
  ), ends AS MATERIALIZED (
    SELECT parents.id, parents.tenant, again, until, reached, (
      SELECT child FROM flow_edges
      WHERE parent = parents.id AND CASE
        WHEN (parents.status = 'succeeded' OR parents.status IN ('dead', 'cancelled', 'gone') AND on_parent_failure = 'run') THEN true
        WHEN parents.status = 'gone' THEN NOT flow_edges.failed
        WHEN parents.status IN ('dead', 'cancelled', 'gone') THEN on_parent_failure = 'cancel' AND NOT flow_edges.failed
        ELSE flow_edges.failed END AND child > after AND child <= until AND (parent, child) NOT IN (SELECT parent, child FROM done)
      ORDER BY child LIMIT 1) AS undone
    FROM looks AS parents LEFT JOIN full_shares ON full_shares.id = parents.id
  ), left_over AS MATERIALIZED (
    SELECT id, tenant, again, CASE WHEN undone IS NOT NULL AND reached IS NOT NULL THEN reached ELSE nullif(until, 'ffffffff-ffff-ffff-ffff-ffffffffffff') END AS next,
           coalesce(undone <= reached, undone IS NOT NULL) AS skipped
    FROM ends
  ), gone AS (
    DELETE FROM flow_notes WHERE ctid = ANY(ARRAY(SELECT note FROM noted)) RETURNING ctid
  ), back AS (
    INSERT INTO flow_notes (job_id, role, tenant, after)
    SELECT id, 'parent', tenant, next FROM left_over WHERE next IS NOT NULL
    UNION ALL SELECT id, 'parent', tenant, NULL FROM left_over WHERE again OR skipped
    RETURNING job_id
  )
  SELECT (SELECT count(*)::int FROM noted WHERE job_id NOT IN (
           SELECT id FROM left_over WHERE next IS NOT NULL OR again OR skipped)) AS notes,
         (SELECT count(*)::int FROM done) AS edges, ((SELECT count(*) FROM page) - (SELECT count(*) FROM noted))::int AS in_vain,
         coalesce((SELECT json_agg(json_build_object('tenant', tenant, 'note', note, 'round_end', round_end))
                   FROM page_ends WHERE further), '[]') AS reached,
         EXISTS (SELECT FROM left_over WHERE next IS NOT NULL OR again OR skipped)
           OR EXISTS (SELECT FROM flow_notes WHERE role = 'parent' AND ctid NOT IN (SELECT ctid FROM gone)) AS left,
         EXISTS (SELECT FROM left_over WHERE next IS NOT NULL OR again) AS further;
