SELECT * FROM dead_letter_replays WHERE state = 'running' AND next_at <= now() AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL
  ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED;
