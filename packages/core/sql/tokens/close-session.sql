-- $1 hash
DELETE FROM atlasqueue.sessions WHERE hash = decode($1, 'hex') RETURNING tenant, token_id;
