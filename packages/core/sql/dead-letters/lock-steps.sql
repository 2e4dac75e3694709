-- $1 ids
WITH patched AS MATERIALIZED (SELECT unnest($1::uuid[]) AS id), job_state_taken AS MATERIALIZED (
    SELECT job_id AS owner, locked.place FROM atlasqueue.job_state
    LEFT JOIN LATERAL (
      SELECT own.ctid AS place FROM atlasqueue.job_state AS own WHERE own.ctid = job_state.ctid FOR UPDATE SKIP LOCKED) AS locked ON true
    WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  ), held AS MATERIALIZED (
    SELECT owner FROM job_state_taken WHERE place IS NULL
  )
  SELECT DISTINCT owner FROM held;
