-- $1 rows_max
WITH 
  idempotency_keys_gone AS (
    DELETE FROM atlasqueue.idempotency_keys WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1::int
      FOR UPDATE SKIP LOCKED))
      AND expires_at <= now()
    RETURNING 1)
  SELECT ((SELECT count(*) FROM idempotency_keys_gone))::int AS gone;
