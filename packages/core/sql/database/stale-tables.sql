SELECT ours.name FROM (VALUES ('jobs', 'jobs'::regclass), ('lease_batches', 'lease_batches'::regclass), ('idempotency_keys', 'idempotency_keys'::regclass), ('job_groups', 'job_groups'::regclass), ('unique_keys', 'unique_keys'::regclass), ('queue_starts', 'queue_starts'::regclass), ('minute_rollups', 'minute_rollups'::regclass)) AS ours(name, id)
  JOIN pg_class ON pg_class.oid = ours.id
  WHERE pg_relation_size(oid) > 4 * greatest(relpages, 16) * current_setting('block_size')::bigint;
