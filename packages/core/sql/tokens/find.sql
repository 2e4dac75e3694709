-- $1 hashes
SELECT encode(hash, 'hex') AS hash, id, name, tenant, to_json(scopes) AS scopes,
         (extract(epoch FROM expires_at - now()) * 1000)::float8 AS expires_in_ms
  FROM atlasqueue.tokens WHERE hash = ANY(ARRAY(SELECT decode(given, 'hex') FROM unnest($1::text[]) AS given)) AND (tokens.expires_at IS NULL OR tokens.expires_at > now());
