-- $1 tenant
-- $2 made_by
SELECT extract(epoch FROM expires_at - now())::float8 AS seconds FROM (SELECT id, expires_at FROM atlasqueue.tokens WHERE tenant = $1 AND id = nullif($2::text, '')::uuid AND (tokens.expires_at IS NULL OR tokens.expires_at > now())) AS maker;
