-- $1 ids
-- $2 payloads
WITH edited AS (
    UPDATE atlasqueue.jobs SET payload = given.payload, has_steps = NULL
    FROM ROWS FROM (unnest($1::uuid[]), json_array_elements($2::text::json)) AS given(id, payload)
    WHERE jobs.id = given.id
    RETURNING jobs.id
  ), job_state_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  )
  SELECT count(*) FROM edited;
