SELECT name FROM (VALUES ('jobs', 'atlasqueue.jobs'::regclass), ('claims', 'atlasqueue.claims'::regclass), ('idempotency_keys', 'atlasqueue.idempotency_keys'::regclass), ('job_groups', 'atlasqueue.job_groups'::regclass), ('outbox', 'atlasqueue.outbox'::regclass), ('queue_starts', 'atlasqueue.queue_starts'::regclass), ('rollups', 'atlasqueue.rollups'::regclass)) AS ours(name, id)
  WHERE pg_relation_size(id) > 4 * current_setting('block_size')::bigint
    * greatest((SELECT relpages FROM pg_class WHERE oid = id), 16);
