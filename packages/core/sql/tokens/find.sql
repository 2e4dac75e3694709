-- $1 hashes
SELECT encode(hash, 'hex') AS hash, tokens.id, name, tokens.tenant, to_json(scopes) AS scopes,
         (extract(epoch FROM expires_at - now()) * 1000)::float8 AS expires_in_ms
  FROM atlasqueue.tokens WHERE hash = ANY(ARRAY(SELECT decode(given, 'hex') FROM unnest($1::text[]) AS given)) AND (tokens.expires_at IS NULL OR tokens.expires_at > now())
  UNION ALL
  SELECT encode(sessions.hash, 'hex') AS hash, tokens.id, name, tokens.tenant, to_json(scopes) AS scopes,
         (extract(epoch FROM least(sessions.expires_at, tokens.expires_at) - now()) * 1000)::float8 AS expires_in_ms
  FROM atlasqueue.sessions JOIN atlasqueue.tokens ON tokens.tenant = sessions.tenant AND tokens.id = token_id
  WHERE sessions.hash = ANY(ARRAY(SELECT decode(given, 'hex') FROM unnest($1::text[]) AS given)) AND sessions.expires_at > now() AND tokens.rotated_to IS NULL AND (tokens.expires_at IS NULL OR tokens.expires_at > now());
