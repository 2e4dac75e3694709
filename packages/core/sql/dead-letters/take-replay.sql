-- $1 tenant_after
SELECT * FROM dead_letter_replays WHERE state = 'running' AND next_at <= now() AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL AND (SELECT CASE WHEN current_setting('transaction_timeout', true) IS NULL THEN ''
                ELSE set_config('transaction_timeout', '10000', true) END) IS NOT NULL
  ORDER BY tenant <= $1, tenant, next_at LIMIT 1 FOR UPDATE SKIP LOCKED;
