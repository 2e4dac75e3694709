-- $1 before
-- $2 rows_max
WITH RECURSIVE owners(tenant) AS (
    (SELECT tenant FROM atlasqueue.audit_log ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM atlasqueue.audit_log WHERE audit_log.tenant > owners.tenant ORDER BY tenant LIMIT 1)
    FROM owners WHERE tenant IS NOT NULL
  ), old AS MATERIALIZED (
    SELECT lies_at FROM owners CROSS JOIN LATERAL (
      SELECT ctid AS lies_at FROM atlasqueue.audit_log WHERE audit_log.tenant = owners.tenant AND id < $1::text::uuid
      ORDER BY id LIMIT $2::int FOR UPDATE SKIP LOCKED) AS act
    LIMIT $2::int
  ), gone AS (
    DELETE FROM atlasqueue.audit_log WHERE ctid = ANY(ARRAY(SELECT lies_at FROM old)) RETURNING 1
  )
  SELECT count(*)::int AS gone FROM gone;
