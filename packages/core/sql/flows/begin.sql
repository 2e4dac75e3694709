-- $1 job_id
-- $2 flow_id
WITH begun AS (
    UPDATE atlasqueue.jobs SET flow_id = $2::uuid WHERE id = $1::uuid RETURNING tenant
  )
  INSERT INTO atlasqueue.flow_jobs (tenant, job_id, flow_id, place, on_parent_failure, parents)
  SELECT tenant, $1::uuid, $2::uuid, 0, 'cancel', '[]' FROM begun;
