-- $1 seconds
-- $2 claims_max
WITH due AS MATERIALIZED (
    SELECT token FROM lease_batches WHERE check_at <= now() ORDER BY check_at LIMIT $2::int FOR UPDATE SKIP LOCKED
  ), later AS (
    UPDATE lease_batches SET check_at = now() + make_interval(secs => $1::float8)
    FROM due WHERE lease_batches.token = due.token RETURNING 1
  )
  SELECT count(*)::int AS claims FROM later;
