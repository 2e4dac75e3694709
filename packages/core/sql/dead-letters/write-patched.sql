-- $1 ids
-- $2 payloads
WITH patched AS (
    UPDATE atlasqueue.jobs SET payload = patch.payload, has_steps = NULL
    FROM ROWS FROM (unnest($1::uuid[]), json_array_elements($2::text::json)) AS patch(id, payload)
    WHERE jobs.id = patch.id
    RETURNING jobs.id
  ), job_steps_gone AS (
    DELETE FROM atlasqueue.job_steps WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  ), job_signals_gone AS (
    DELETE FROM atlasqueue.job_signals WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  ), job_waits_gone AS (
    DELETE FROM atlasqueue.job_waits WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  )
  SELECT count(*) FROM patched;
