SELECT ours.name FROM (VALUES ('jobs', 'atlasqueue.jobs'::regclass), ('claims', 'atlasqueue.claims'::regclass), ('idempotency_keys', 'atlasqueue.idempotency_keys'::regclass), ('job_groups', 'atlasqueue.job_groups'::regclass), ('outbox', 'atlasqueue.outbox'::regclass), ('queue_starts', 'atlasqueue.queue_starts'::regclass), ('rollups', 'atlasqueue.rollups'::regclass)) AS ours(name, id)
  JOIN pg_class ON pg_class.oid = ours.id
  WHERE pg_relation_size(oid) > 4 * greatest(relpages, 16) * current_setting('block_size')::bigint;
