-- $1 hash
DELETE FROM sessions USING tokens WHERE sessions.hash = decode($1, 'hex') AND tokens.id = token_id
  RETURNING tenant, token_id;
