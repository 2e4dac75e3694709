-- $1 ids
WITH patched AS MATERIALIZED (SELECT unnest($1::uuid[]) AS id), job_steps_taken AS MATERIALIZED (
    SELECT job_id AS owner, locked.place FROM atlasqueue.job_steps
    LEFT JOIN LATERAL (
      SELECT own.ctid AS place FROM atlasqueue.job_steps AS own WHERE own.ctid = job_steps.ctid FOR UPDATE SKIP LOCKED) AS locked ON true
    WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  ), job_signals_taken AS MATERIALIZED (
    SELECT job_id AS owner, locked.place FROM atlasqueue.job_signals
    LEFT JOIN LATERAL (
      SELECT own.ctid AS place FROM atlasqueue.job_signals AS own WHERE own.ctid = job_signals.ctid FOR UPDATE SKIP LOCKED) AS locked ON true
    WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  ), job_waits_taken AS MATERIALIZED (
    SELECT job_id AS owner, locked.place FROM atlasqueue.job_waits
    LEFT JOIN LATERAL (
      SELECT own.ctid AS place FROM atlasqueue.job_waits AS own WHERE own.ctid = job_waits.ctid FOR UPDATE SKIP LOCKED) AS locked ON true
    WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  ), held AS MATERIALIZED (
    SELECT owner FROM job_steps_taken WHERE place IS NULL UNION ALL SELECT owner FROM job_signals_taken WHERE place IS NULL UNION ALL SELECT owner FROM job_waits_taken WHERE place IS NULL
  )
  SELECT DISTINCT owner FROM held;
