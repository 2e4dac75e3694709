-- $1 tenant
-- $2 queues
SELECT queue FROM queues WHERE tenant = $1 AND queue = ANY($2::text[]) AND paused_at IS NULL AND fair_by IS NOT NULL;
