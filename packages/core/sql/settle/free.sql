-- $1 ids
SELECT id FROM atlasqueue.jobs WHERE id = ANY($1::uuid[]) AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (group_key IS NULL OR EXISTS (
      SELECT FROM atlasqueue.job_groups AS one WHERE one.tenant = jobs.tenant AND one.queue = jobs.queue AND one.group_key = jobs.group_key AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED))
  FOR NO KEY UPDATE SKIP LOCKED;
