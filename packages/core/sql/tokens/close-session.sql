-- $1 hash
DELETE FROM atlasqueue.sessions WHERE hash = decode($1, 'hex') AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL RETURNING tenant, token_id;
