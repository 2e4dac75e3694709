-- $1 id
-- $2 tenant
-- $3 lease_token
-- $4 name
-- $5 timeout_seconds
WITH found AS MATERIALIZED (
    SELECT jobs.id, jobs.type, jobs.queue, jobs.attempts, jobs.worker_id, coalesce(jobs.status = 'running' AND jobs.lease_token = $3::uuid, false) AS held,
           coalesce(jobs.status = 'scheduled' AND jobs.waits_for = $4 AND jobs.lease_token = $3::uuid, false) AS parked,
           sent.name IS NOT NULL AS signalled, sent.value AS payload, coalesce(wait.timeout_delivered OR wait.until <= now(), false) AS over,
           coalesce(wait.until, now() + make_interval(secs => $5::float8)) AS until,
           wait.name IS NOT NULL OR (SELECT count(*) < 1000 FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'wait') AS has_room
    FROM atlasqueue.jobs
    LEFT JOIN atlasqueue.job_state AS sent ON sent.job_id = jobs.id AND sent.kind = 'signal' AND sent.name = $4
    LEFT JOIN atlasqueue.job_state AS wait ON wait.job_id = jobs.id AND wait.kind = 'wait' AND wait.name = $4
    WHERE jobs.id = $1::uuid AND jobs.tenant = $2
  ), goes AS MATERIALIZED (
    SELECT id, over, until FROM found WHERE held AND NOT signalled AND has_room
  ), moved AS (
    UPDATE atlasqueue.jobs SET status = CASE WHEN over THEN 'running' ELSE 'scheduled' END, waits_for = CASE WHEN NOT over THEN $4 END,
                    run_at = CASE WHEN over THEN run_at ELSE until END, due_at = CASE WHEN NOT over THEN until END,
                    attempts = CASE WHEN over THEN attempts ELSE attempts - 1 END, expires_at = NULL,
                    locked_until = CASE WHEN over THEN locked_until END, worker_id = CASE WHEN over THEN worker_id END,
                    has_steps = true, updated_at = now()
    FROM goes WHERE jobs.id = goes.id
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.status
  ), parked AS (
    SELECT * FROM moved WHERE status = 'scheduled'
  ), waiting AS (
    INSERT INTO atlasqueue.job_state AS known (tenant, job_id, kind, name, at, until, timeout_delivered)
    SELECT $2, id, 'wait', $4, now(), until, CASE WHEN over THEN true END FROM goes
    ON CONFLICT (job_id, kind, name) DO UPDATE SET timeout_delivered = true
    WHERE excluded.timeout_delivered AND known.timeout_delivered IS NULL
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, running, scheduled)
    SELECT tenant, queue, -count(*), count(*) FROM parked GROUP BY tenant, queue
  )
  SELECT type, queue, attempts, worker_id, held, parked, signalled, payload, over, until, has_room FROM found;
