-- $1 id
-- $2 tenant
SELECT tenant, status, lease_token, flow_id, has_children FROM atlasqueue.jobs
  WHERE id = $1::uuid AND tenant = $2 AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL AND (SELECT CASE WHEN current_setting('transaction_timeout', true) IS NULL THEN ''
                ELSE set_config('transaction_timeout', '10000', true) END) IS NOT NULL FOR UPDATE;
