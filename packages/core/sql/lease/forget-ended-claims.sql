-- $1 tokens
DELETE FROM atlasqueue.claims WHERE token = ANY($1::uuid[]) AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    AND (SELECT count(*) FROM atlasqueue.jobs WHERE jobs.id = ANY(job_ids) AND status = 'running'
           AND lease_token = claims.token) = 0;
