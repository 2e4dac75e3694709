-- $1 tokens
DELETE FROM atlasqueue.lease_batches WHERE token = ANY($1::uuid[]) AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off';
