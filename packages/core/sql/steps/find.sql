-- $1 id
-- $2 tenant
SELECT (SELECT json_agg(json_build_object('name', name, 'result', result, 'attempt', attempt, 'finished_at', to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY finished_at, name) FROM atlasqueue.job_steps WHERE job_id = jobs.id) AS steps,
         (SELECT json_agg(json_build_object('name', name, 'payload', payload, 'sent_at', to_char(sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY sent_at, name) FROM atlasqueue.job_signals WHERE job_id = jobs.id) AS signals,
         (SELECT json_agg(json_build_object('name', name, 'until', to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY until, name) FROM atlasqueue.job_waits WHERE job_id = jobs.id) AS waits
  FROM atlasqueue.jobs WHERE id = $1::uuid AND tenant = $2;
