-- $1 tenants
-- $2 keys
DELETE FROM atlasqueue.idempotency_keys WHERE (tenant, key) IN (
    SELECT keys.tenant, keys.key FROM unnest($1::text[], $2::text[]) AS spent(tenant, key)
    JOIN atlasqueue.idempotency_keys AS keys USING (tenant, key)
    WHERE keys.expires_at <= now() OR NOT EXISTS (SELECT FROM atlasqueue.jobs WHERE jobs.id = keys.job_id)
    FOR UPDATE OF keys SKIP LOCKED);
