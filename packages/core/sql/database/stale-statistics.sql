SELECT EXISTS (
    SELECT FROM pg_class
    WHERE oid IN ('jobs'::regclass, 'lease_batches'::regclass, 'idempotency_keys'::regclass, 'job_groups'::regclass, 'unique_keys'::regclass, 'queue_starts'::regclass, 'minute_rollups'::regclass)
      AND pg_relation_size(oid) > 4 * greatest(relpages, 16) * current_setting('block_size')::bigint) AS stale;
