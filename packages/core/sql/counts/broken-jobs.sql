-- $1 jobs_max
WITH looked AS MATERIALIZED (
    SELECT id, status, attempts, ready_at, due_at, expires_at, dead_at, group_seq, active_group_key FROM atlasqueue.jobs LIMIT $1::int + 1
  ), broken AS (
    SELECT id, name FROM looked, LATERAL (VALUES ('jobs_status_known', status IN ('scheduled', 'blocked', 'queued', 'running', 'failed', 'succeeded', 'dead', 'cancelled')), ('jobs_ready_at', (status = 'queued') = (ready_at IS NOT NULL)), ('jobs_due_at', (status IN ('scheduled', 'failed')) = (due_at IS NOT NULL)), ('jobs_expires_at', expires_at IS NULL OR attempts > 0 OR status IN ('scheduled', 'blocked', 'queued')), ('jobs_dead_at', (status = 'dead') = (dead_at IS NOT NULL)), ('jobs_group_seq', (status = 'blocked') = (group_seq IS NOT NULL)), ('jobs_active_group_key_open', active_group_key IS NULL OR status IN ('scheduled', 'queued', 'running', 'failed'))) AS of(name, holds) WHERE NOT holds LIMIT 20
  )
  SELECT (SELECT count(*)::int FROM looked) AS jobs, (SELECT json_agg(json_build_object('id', id, 'check', name)) FROM broken) AS broken;
