-- $1 tenant
-- $2 keys
SELECT NOT EXISTS (
    SELECT FROM unnest($2::text[]) AS wanted(key)
    WHERE NOT EXISTS (SELECT FROM atlasqueue.idempotency_keys AS known
                      WHERE known.tenant = $1 AND known.key = wanted.key AND expires_at > now())) AS used;
