-- $1 tokens
DELETE FROM atlasqueue.lease_batches WHERE token = ANY($1::uuid[]) AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'
    AND (SELECT count(*) FROM atlasqueue.jobs WHERE jobs.id = ANY(job_ids) AND status = 'running'
           AND lease_token = lease_batches.token) = 0;
