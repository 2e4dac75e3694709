-- $1 seconds
-- $2 once_in_seconds
-- $3 claims_max
WITH due AS MATERIALIZED (
    SELECT token FROM atlasqueue.claims
    WHERE check_at <= now() AND (put_off_at BETWEEN now() - make_interval(secs => $2::float8) AND now()) IS NOT TRUE
    ORDER BY check_at LIMIT $3::int FOR UPDATE SKIP LOCKED
  ), later AS (
    UPDATE atlasqueue.claims SET check_at = now() + make_interval(secs => $1::float8), put_off_at = now()
    WHERE token = ANY(ARRAY(SELECT token FROM due)) RETURNING 1
  )
  SELECT count(*)::int AS claims FROM later;
