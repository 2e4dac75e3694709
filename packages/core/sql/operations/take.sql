-- $1 tenant_after
SELECT * FROM atlasqueue.operations WHERE status = 'running' AND CASE WHEN next_at > now() + make_interval(secs => 60 + coalesce(2 / rate, 0)) THEN now() ELSE next_at END <= now() AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL AND (SELECT CASE WHEN current_setting('transaction_timeout', true) IS NULL THEN ''
                ELSE set_config('transaction_timeout', '10000', true) END) IS NOT NULL
  ORDER BY tenant <= $1, tenant, next_at LIMIT 1 FOR UPDATE SKIP LOCKED;
