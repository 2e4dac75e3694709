-- $1 tenants
-- $2 keys
SELECT first.key, first.request_hash, (
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated, jobs.*
  FROM unnest($1::text[], $2::text[]) AS wanted(tenant, key), LATERAL (
    SELECT idempotency_key AS key, encode(request_hash, 'hex') AS request_hash, job_id FROM arrivals
    WHERE arrivals.tenant = wanted.tenant AND idempotency_key = wanted.key ORDER BY job_id LIMIT 1) AS first
  JOIN jobs ON jobs.id = first.job_id;
