-- $1 ids
-- $2 payloads
WITH patched AS (
    UPDATE atlasqueue.jobs SET payload = patch.payload, has_steps = NULL
    FROM ROWS FROM (unnest($1::uuid[]), json_array_elements($2::text::json)) AS patch(id, payload)
    WHERE jobs.id = patch.id
    RETURNING jobs.id
  ), job_state_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM patched))
  )
  SELECT count(*) FROM patched;
