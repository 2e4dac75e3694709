-- $1 tokens
DELETE FROM atlasqueue.claims WHERE token = ANY($1::uuid[]) AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off';
