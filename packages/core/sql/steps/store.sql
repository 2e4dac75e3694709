-- $1 id
-- $2 tenant
-- $3 lease_token
-- $4 name
-- $5 result
WITH found AS MATERIALIZED (
    SELECT jobs.id, coalesce(jobs.status = 'running' AND jobs.lease_token = $3::uuid, false) AS held, same.name IS NOT NULL AS known, same.value AS result, (
      SELECT count(*) < 1000 AND coalesce(sum(
      CASE WHEN pg_column_compression(value) IS NULL THEN coalesce(pg_column_size(value), 0)
           ELSE octet_length(value::text) END), 0) + octet_length($5) <= 4194304
      FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'step') AS has_room
    FROM atlasqueue.jobs
    LEFT JOIN atlasqueue.job_state AS same ON same.job_id = jobs.id AND same.kind = 'step' AND same.name = $4
    WHERE jobs.id = $1::uuid AND jobs.tenant = $2
  ), marked AS (
    UPDATE atlasqueue.jobs SET has_steps = true, updated_at = now() FROM found
    WHERE jobs.id = found.id AND held AND has_room AND NOT known
    RETURNING jobs.id, jobs.attempts
  ), stored AS (
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt)
    SELECT $2, id, 'step', $4, $5::json, now(), attempts FROM marked
  )
  SELECT held, known, result, has_room FROM found;
