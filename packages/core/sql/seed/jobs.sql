-- $1 after
-- $2 count
-- $3 tenant
-- $4 queues
-- $5 upto
-- $6 kinds_queues
-- $7 types
-- $8 statuses
-- $9 payloads
-- $10 waits_ms
-- $11 runs_ms
-- $12 errors
-- $13 fingerprints
-- $14 named
-- $15 before
-- $16 of_class
WITH kind AS MATERIALIZED (
    SELECT *, lag(upto, 1, 0::float8) OVER (ORDER BY upto) AS above
    FROM unnest($5::float8[], $6::text[], $7::text[], $8::text[], $9::text[], $10::float8[], $11::float8[], $12::text[], $13::text[])
      AS kind(upto, queue, type, status, payload, wait_ms, run_ms, error, fingerprint)
  ), drawn AS MATERIALIZED (
    SELECT $1::int + n AS n, ($15::float8 + n) / $16::float8 AS moment, random() AS which, random() AS luck, random() AS length, random() AS numbered,
           (random() * greatest(0, $4::int - $14::int - 1))::int + 1 AS customer
    FROM generate_series(1, $2::int) AS n
  ), planned AS MATERIALIZED (
    SELECT n, type, status, error, fingerprint, payload, luck,
           CASE WHEN $4::int > $14::int AND numbered < CASE status WHEN 'succeeded' THEN 0.5 WHEN 'queued' THEN 0.33 ELSE 0 END
                THEN 'customer-' || lpad(customer::text, 5, '0') ELSE queue END AS queue,
           now() - interval '3 minutes' - interval '1 day' * CASE
             WHEN status = 'dead' AND luck < 0.5 THEN 0.22 + 0.02 * moment
             WHEN status IN ('queued', 'failed', 'scheduled') THEN 0.08 * moment
             ELSE least(0.998, greatest(0, moment + 0.05 * sin(moment * 12.566))) END AS made_at,
           wait_ms * (0.3 + 4 * power(length, 6)) AS waited, run_ms * (0.4 + 3 * power(1 - luck, 5)) AS ran,
           CASE status WHEN 'dead' THEN 3 + (2 * length)::int WHEN 'failed' THEN 1 + (2 * length)::int
                       WHEN 'succeeded' THEN CASE WHEN luck > 0.97 THEN 2 ELSE 1 END ELSE 0 END AS attempts,
           'box-' || (1 + (5 * length)::int) || '-' || (4000 + (5 * length)::int * 17) AS worker
    FROM drawn JOIN kind ON which >= above AND which < upto
  ), timed AS MATERIALIZED (
    SELECT *, made_at + interval '1 millisecond' * (waited + greatest(0, attempts - 1) * 6000) AS started, made_at + interval '1 millisecond' * (waited + ran + greatest(0, attempts - 1) * 6000) AS ended,
           replace(error, '%n', n::text) AS error_text
    FROM planned
  ), made AS (
    INSERT INTO atlasqueue.jobs (id, tenant, queue, type, status, run_at, ready_at, due_at, dead_at, created_at, updated_at, started_at,
                      finished_at, attempts, max_attempts, worker_id, dead_reason, last_error, error_fingerprint, payload, result)
    SELECT (lpad(to_hex((extract(epoch FROM made_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
    || substr(md5(n::text), 4, 15))::uuid, $3, queue, type, status,
           CASE WHEN status = 'scheduled' THEN now() + interval '6 hours' * (0.1 + luck)
                WHEN status = 'failed' THEN now() + interval '30 minutes' * (0.1 + luck) ELSE made_at END,
           CASE WHEN status = 'queued' THEN made_at END,
           CASE WHEN status = 'scheduled' THEN now() + interval '6 hours' * (0.1 + luck)
                WHEN status = 'failed' THEN now() + interval '30 minutes' * (0.1 + luck) END,
           CASE WHEN status = 'dead' THEN ended END, made_at,
           CASE WHEN status IN ('queued', 'scheduled') THEN made_at ELSE ended END,
           CASE WHEN attempts > 0 THEN started END, CASE WHEN status IN ('succeeded', 'dead', 'cancelled') THEN ended END,
           attempts, CASE WHEN status = 'dead' THEN attempts ELSE 5 END, CASE WHEN attempts > 0 THEN worker END, CASE WHEN status = 'dead' THEN 'attempts_exhausted' END,
           CASE WHEN status IN ('dead', 'failed') THEN error_text END, CASE WHEN status = 'dead' THEN fingerprint END, replace(payload, '%n', n::text)::json,
           CASE WHEN status = 'succeeded' THEN '{"ok":true}'::json END
    FROM timed ORDER BY n
    RETURNING id, tenant, queue, status AS to_status, NULL::text AS from_status, status, attempts, worker_id, created_at, last_error
  ), history AS (
    INSERT INTO atlasqueue.job_attempts (tenant, job_id, attempt, worker_id, started_at, finished_at, outcome, error)
    SELECT tenant, id, attempt, worker_id, created_at + attempt * interval '5 seconds', created_at + attempt * interval '5 seconds' + interval '0.4 seconds', 'failed',
           coalesce(last_error, 'HttpError: 502 from https://api.example.com')
    FROM made, generate_series(1, attempts - CASE WHEN status IN ('dead', 'failed') THEN 0 ELSE 1 END) AS attempt
  ), counted AS (
    INSERT INTO atlasqueue.queue_changes (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, count(*) FILTER (WHERE to_status = 'scheduled') - count(*) FILTER (WHERE from_status = 'scheduled'), count(*) FILTER (WHERE to_status = 'blocked') - count(*) FILTER (WHERE from_status = 'blocked'), count(*) FILTER (WHERE to_status = 'queued') - count(*) FILTER (WHERE from_status = 'queued'), count(*) FILTER (WHERE to_status = 'running') - count(*) FILTER (WHERE from_status = 'running'), count(*) FILTER (WHERE to_status = 'failed') - count(*) FILTER (WHERE from_status = 'failed'), count(*) FILTER (WHERE to_status = 'succeeded') - count(*) FILTER (WHERE from_status = 'succeeded'), count(*) FILTER (WHERE to_status = 'dead') - count(*) FILTER (WHERE from_status = 'dead'), count(*) FILTER (WHERE to_status = 'cancelled') - count(*) FILTER (WHERE from_status = 'cancelled') FROM made GROUP BY tenant, queue
  )
  SELECT count(*) FROM made;
