-- $1 row
-- $2 tenant
INSERT INTO atlasqueue.operations (id, tenant, kind, filter, patch, payload_bytes_max, rate, total, total_complete, until_us, cursor, made_by, status, next_at, created_at, updated_at)
  SELECT id, tenant, kind, filter, patch, payload_bytes_max, rate, total, total_complete, until_us, cursor, made_by, 'running', now(), now(), now() FROM json_populate_record(NULL::atlasqueue.operations, $1::text::json)
  WHERE (SELECT count(*) FROM atlasqueue.operations WHERE tenant = $2 AND status IN ('running', 'paused')) < 20
  RETURNING *;
