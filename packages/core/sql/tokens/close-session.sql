-- $1 hash
DELETE FROM atlasqueue.sessions USING atlasqueue.tokens WHERE sessions.hash = decode($1, 'hex') AND tokens.id = token_id
  RETURNING tenant, token_id;
