-- $1 id
-- $2 payload
WITH edited AS (
    UPDATE jobs SET payload = $2::text::json, has_steps = NULL WHERE id = $1::uuid RETURNING id
  ), job_steps_gone AS (
    DELETE FROM job_steps WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  ), job_signals_gone AS (
    DELETE FROM job_signals WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  ), job_waits_gone AS (
    DELETE FROM job_waits WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  )
  SELECT id FROM edited;
