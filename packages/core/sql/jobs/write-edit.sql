-- $1 id
-- $2 payload
WITH edited AS (
    UPDATE atlasqueue.jobs SET payload = $2::text::json, has_steps = NULL WHERE id = $1::uuid RETURNING id
  ), job_state_gone AS (
    DELETE FROM atlasqueue.job_state WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  )
  SELECT id FROM edited;
