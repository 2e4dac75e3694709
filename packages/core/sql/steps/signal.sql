-- $1 id
-- $2 tenant
-- $3 name
-- $4 payload
WITH found AS MATERIALIZED (
    SELECT jobs.id, coalesce(jobs.status = 'scheduled' AND jobs.waits_for = $3, false) AS wakes,
           jobs.status IN ('succeeded', 'dead', 'cancelled') AS finished, same.name IS NOT NULL AS known,
           coalesce(wait.timeout_delivered OR wait.until <= now(), false) AS late, (
      SELECT count(*) < 1000 AND coalesce(sum(
      CASE WHEN pg_column_compression(value) IS NULL THEN coalesce(pg_column_size(value), 0)
           ELSE octet_length(value::text) END), 0) + octet_length($4) <= 4194304
      FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'signal') AS has_room
    FROM atlasqueue.jobs
    LEFT JOIN atlasqueue.job_state AS same ON same.job_id = jobs.id AND same.kind = 'signal' AND same.name = $3
    LEFT JOIN atlasqueue.job_state AS wait ON wait.job_id = jobs.id AND wait.kind = 'wait' AND wait.name = $3
    WHERE jobs.id = $1::uuid AND jobs.tenant = $2
  ), goes AS MATERIALIZED (
    SELECT id, wakes FROM found WHERE NOT (finished OR known OR late) AND has_room
  ), touched AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN wakes THEN 'queued' ELSE status END, waits_for = CASE WHEN NOT wakes THEN waits_for END,
                    ready_at = CASE WHEN wakes THEN now() ELSE ready_at END, due_at = CASE WHEN NOT wakes THEN due_at END,
                    run_at = CASE WHEN wakes THEN now() ELSE run_at END, has_steps = true, updated_at = now()
    FROM goes WHERE jobs.id = goes.id
    RETURNING jobs.*, wakes AS woken
  ), kept AS (
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at) SELECT $2, id, 'signal', $3, $4::json, now() FROM goes
  ), woken AS (
    SELECT tenant, queue FROM touched WHERE woken
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, queued)
    SELECT tenant, queue, -count(*), count(*) FROM woken GROUP BY tenant, queue
  )
  SELECT touched.*, finished, known, late FROM touched JOIN found ON found.id = touched.id
  UNION ALL
  SELECT jobs.*, NULL, finished, known, late FROM atlasqueue.jobs JOIN found ON found.id = jobs.id
  WHERE NOT EXISTS (SELECT FROM touched);
