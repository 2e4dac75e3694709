-- $1 id
SELECT id FROM dead_letter_replays WHERE id = $1::uuid AND state IN ('running', 'done') AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL AND (SELECT CASE WHEN current_setting('transaction_timeout', true) IS NULL THEN ''
                ELSE set_config('transaction_timeout', '10000', true) END) IS NOT NULL
  FOR UPDATE SKIP LOCKED;
