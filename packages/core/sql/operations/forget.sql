-- $1 operations_max
DELETE FROM atlasqueue.operations WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM atlasqueue.operations WHERE finished_at < now() - interval '30 days' LIMIT $1::int
    FOR UPDATE SKIP LOCKED))
  RETURNING 1;
