-- $1 rows_max
WITH gone AS (
    DELETE FROM atlasqueue.idempotency_keys WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND expires_at <= now()
    RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone;
