-- $1 ids
-- $2 token_places
-- $3 tokens
SELECT jobs.id, status, run_at, dead_reason, has_children, (
    SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN true
                ELSE pg_logical_emit_message(true, 'atlasqueue', '') IS NOT NULL END) AS replicated FROM unnest($1::uuid[], $2::int[]) AS input(id, token) JOIN atlasqueue.jobs ON jobs.id = input.id
  WHERE lease_token = ($3::uuid[])[input.token];
