-- $1 claims_max
-- $2 error
-- $3 fingerprint
-- $4 jobs_max
WITH due AS MATERIALIZED (
    SELECT tenant, token, job_ids, check_at FROM atlasqueue.claims WHERE check_at <= now() AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL
    ORDER BY check_at LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), looked_at AS MATERIALIZED (
    SELECT tenant, token, job_ids FROM (
      SELECT tenant, token, job_ids, sum(cardinality(job_ids)) OVER (ORDER BY check_at, token) - cardinality(job_ids) AS before FROM due
    ) AS counted WHERE before < $4::int
  ), running AS MATERIALIZED (
    SELECT looked_at.tenant, looked_at.token, jobs.id, jobs.locked_until, jobs.worker_id, jobs.started_at
    FROM looked_at CROSS JOIN LATERAL unnest(looked_at.job_ids) AS member(id) JOIN atlasqueue.jobs ON jobs.id = member.id
    WHERE jobs.lease_token = looked_at.token AND jobs.status = 'running'
  ), ended AS MATERIALIZED (
    SELECT * FROM running WHERE locked_until <= now()
  ), free AS MATERIALIZED (
    SELECT ended.* FROM ended JOIN atlasqueue.jobs ON jobs.id = ended.id WHERE (jobs.group_key IS NULL OR jobs.attempts < jobs.max_attempts OR EXISTS (
      SELECT FROM atlasqueue.job_groups AS one WHERE one.tenant = jobs.tenant AND one.queue = jobs.queue AND one.group_key = jobs.group_key AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED)) LIMIT $4::int FOR NO KEY UPDATE OF jobs SKIP LOCKED
  ), recovered AS (
    UPDATE atlasqueue.jobs SET
      status = CASE WHEN attempts >= max_attempts THEN 'dead' ELSE 'queued' END,
      ready_at = CASE WHEN attempts < max_attempts THEN run_at END,
      dead_at = CASE WHEN attempts >= max_attempts THEN now() END,
      finished_at = CASE WHEN attempts >= max_attempts THEN now() END,
      active_group_key = CASE WHEN attempts < max_attempts THEN active_group_key END,
      dead_reason = CASE WHEN attempts >= max_attempts THEN 'lease_lost' END,
      error_fingerprint = CASE WHEN attempts >= max_attempts THEN $3 END,
      last_error = $2, lease_token = NULL, locked_until = NULL, updated_at = now()
    FROM free
    WHERE jobs.id = free.id AND jobs.lease_token = free.token AND jobs.status = 'running' AND jobs.locked_until <= now()
    RETURNING jobs.id, jobs.tenant, jobs.queue, jobs.group_key, jobs.priority, jobs.type, jobs.status, jobs.attempts, jobs.has_children,
              'running' AS from_status, jobs.status AS to_status,
              free.worker_id, free.started_at
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, error)
    SELECT tenant, id, attempts, worker_id, started_at, now(), 'lost', $2 FROM recovered
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM recovered GROUP BY tenant, queue
  ), dead AS (
    SELECT id, tenant, has_children FROM recovered WHERE status = 'dead'
  ), noted_parents AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, key) SELECT 'parent_ended', tenant, id::text FROM dead WHERE has_children
    RETURNING key::uuid AS job_id
  ), still_open AS (
    SELECT tenant, token, CASE WHEN min(locked_until) > now() THEN greatest(min(locked_until), now() + interval '1 second')
                       WHEN (SELECT count(*) FROM free) < $4::int THEN now() + interval '3 seconds'
                       ELSE now() END AS check_at
    FROM running WHERE id NOT IN (SELECT id FROM recovered) GROUP BY tenant, token
  ), kept AS (
    UPDATE atlasqueue.claims SET check_at = (
      SELECT check_at FROM still_open WHERE still_open.token = claims.token AND still_open.tenant = claims.tenant)
    WHERE token = ANY(ARRAY(SELECT token FROM still_open)) AND (token, tenant) IN (SELECT token, tenant FROM still_open)
  ), over AS MATERIALIZED (
    SELECT tenant, token, job_ids = '{}' AS is_gone FROM looked_at
    WHERE NOT EXISTS (SELECT FROM still_open WHERE still_open.token = looked_at.token AND still_open.tenant = looked_at.tenant)
  ), emptied AS (
    UPDATE atlasqueue.claims SET job_ids = '{}', check_at = now() + interval '60 seconds'
    WHERE token = ANY(ARRAY(SELECT token FROM over)) AND (token, tenant) IN (SELECT token, tenant FROM over WHERE NOT is_gone)
  ), gone AS (
    DELETE FROM atlasqueue.claims
    WHERE token = ANY(ARRAY(SELECT token FROM over)) AND (token, tenant) IN (SELECT token, tenant FROM over WHERE is_gone)
  )
  SELECT (SELECT count(*)::int FROM looked_at) AS claims,
         (SELECT count(*) FROM due) = $1::int OR (SELECT count(*) FROM looked_at) < (SELECT count(*) FROM due)
           OR (SELECT count(*) FROM free) = $4::int AS more,
         (SELECT json_agg(json_build_object('id', id, 'tenant', tenant, 'queue', queue, 'priority', priority, 'type', type,
                                            'status', status, 'attempts', attempts, 'worker_id', worker_id,
                                            'group_key', group_key, 'has_children', has_children))
          FROM recovered) AS jobs;
