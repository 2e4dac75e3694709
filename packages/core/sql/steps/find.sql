-- $1 id
-- $2 tenant
SELECT json_build_object(
         'steps', coalesce((
           SELECT json_agg(json_build_object('name', name, 'result', value, 'attempt', attempt, 'finished_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY at, name)
           FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'step'), '[]'),
         'signals', coalesce((
           SELECT json_agg(json_build_object('name', name, 'payload', value, 'sent_at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY at, name)
           FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'signal'), '[]'),
         'waits', coalesce((
           SELECT json_agg(json_build_object('name', name, 'until', to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY until, name)
           FROM atlasqueue.job_state WHERE job_id = jobs.id AND kind = 'wait'), '[]'))::text AS json
  FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2;
