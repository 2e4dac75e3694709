-- $1 id
-- $2 payload
WITH edited AS (
    UPDATE atlasqueue.jobs SET payload = $2::text::json, has_steps = NULL WHERE id = $1::uuid RETURNING id
  ), job_steps_gone AS (
    DELETE FROM atlasqueue.job_steps WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  ), job_signals_gone AS (
    DELETE FROM atlasqueue.job_signals WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  ), job_waits_gone AS (
    DELETE FROM atlasqueue.job_waits WHERE job_id = ANY(ARRAY(SELECT id FROM edited))
  )
  SELECT id FROM edited;
