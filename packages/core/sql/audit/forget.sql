-- $1 kept_seconds
-- $2 rows_max
WITH gone AS (
    DELETE FROM atlasqueue.audit_log WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.audit_log WHERE at < now() - make_interval(secs => $1::float8) ORDER BY at LIMIT $2::int
      FOR UPDATE SKIP LOCKED))
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone;
