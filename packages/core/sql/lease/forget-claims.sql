-- $1 tokens
-- $2 tenants
DELETE FROM atlasqueue.claims
   WHERE token = ANY($1::uuid[]) AND tenant = ($2::text[])[array_position($1::uuid[], token)] AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL;
