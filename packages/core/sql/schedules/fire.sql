-- $1 tenants
-- $2 names
-- $3 next_ats
-- $4 slots
-- $5 job_ids
UPDATE atlasqueue.schedules AS known
  SET next_at = moved.next_at, last_slot_at = coalesce(moved.slot, last_slot_at), last_job_id = coalesce(moved.job_id, last_job_id)
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::uuid[]) AS moved(tenant, name, next_at, slot, job_id)
  WHERE known.tenant = moved.tenant AND known.name = moved.name;
