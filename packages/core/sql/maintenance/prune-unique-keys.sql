-- $1 keys_max
WITH due AS MATERIALIZED (
    SELECT tenant, queue, key, job_id, window_ends_at FROM atlasqueue.unique_keys WHERE check_at <= now()
    ORDER BY check_at LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), needed AS MATERIALIZED (
    SELECT due.tenant, due.queue, due.key FROM due JOIN atlasqueue.jobs ON jobs.id = due.job_id
    WHERE window_ends_at IS NULL AND status NOT IN ('succeeded', 'dead', 'cancelled')
  ), kept AS (
    UPDATE atlasqueue.unique_keys SET check_at = now() + make_interval(secs => 600)
    WHERE (tenant, queue, key) IN (SELECT tenant, queue, key FROM needed)
  ), gone AS (
    DELETE FROM atlasqueue.unique_keys WHERE (tenant, queue, key) IN (SELECT tenant, queue, key FROM due)
      AND (tenant, queue, key) NOT IN (SELECT tenant, queue, key FROM needed)
  )
  SELECT count(*)::int AS looked_at FROM due;
