-- $1 tenant
-- $2 id
UPDATE atlasqueue.audit_log SET idempotency_key = NULL WHERE tenant = $1 AND id = $2 AND NOT finished;
