-- $1 tokens
UPDATE atlasqueue.claims SET ended = true, check_at = now() + interval '60 seconds', job_ids = ARRAY(
      SELECT id FROM unnest(job_ids) AS one(id) WHERE (SELECT true FROM atlasqueue.jobs WHERE jobs.id = one.id) IS NULL) WHERE token = ANY($1::uuid[]) AND ended IS NULL AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
    AND (SELECT count(*) FROM atlasqueue.jobs WHERE jobs.id = ANY(job_ids) AND status = 'running'
           AND lease_token = claims.token) = 0;
