-- $1 worker_id
WITH theirs AS MATERIALIZED (
    SELECT token, job_ids FROM atlasqueue.claims WHERE worker_id = $1 FOR UPDATE SKIP LOCKED
  ), running AS MATERIALIZED (
    SELECT theirs.token, jobs.id
    FROM theirs CROSS JOIN LATERAL unnest(theirs.job_ids) AS member(id) JOIN atlasqueue.jobs ON jobs.id = member.id
    WHERE jobs.lease_token = theirs.token AND jobs.status = 'running' AND jobs.locked_until > now()
  ), free AS MATERIALIZED (
    SELECT running.* FROM running JOIN atlasqueue.jobs ON jobs.id = running.id FOR NO KEY UPDATE OF jobs SKIP LOCKED
  ), ended AS (
    UPDATE atlasqueue.jobs SET locked_until = now() FROM free
    WHERE jobs.id = free.id AND jobs.lease_token = free.token AND jobs.status = 'running' AND jobs.locked_until > now()
    RETURNING jobs.id, free.token
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = now() WHERE token = ANY(ARRAY(SELECT token FROM ended))
  )
  SELECT (SELECT count(*)::int FROM ended) AS ended,
         (SELECT count(*)::int FROM running WHERE id NOT IN (SELECT id FROM ended)) AS locked;
