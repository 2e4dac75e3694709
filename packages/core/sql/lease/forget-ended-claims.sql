-- $1 tokens
UPDATE atlasqueue.claims SET job_ids = '{}', check_at = now() + interval '60 seconds' WHERE token = ANY($1::uuid[]) AND job_ids <> '{}' AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
    AND (SELECT count(*) FROM atlasqueue.jobs WHERE jobs.id = ANY(job_ids) AND status = 'running'
           AND lease_token = claims.token) = 0;
