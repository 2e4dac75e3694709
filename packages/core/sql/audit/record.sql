-- $1 acts
-- $2 finished
-- $3 tenant
-- $4 idempotency_key
-- $5 fingerprint
-- $6 act_seconds_max
WITH left_over AS (
    UPDATE atlasqueue.audit_log SET idempotency_key = NULL
    WHERE tenant = $3 AND idempotency_key = nullif($4, '') AND fingerprint = $5 AND NOT finished AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
      AND (at < now() - make_interval(secs => $6::float8) OR at > now() + make_interval(secs => $6::float8))
    RETURNING 1
  )
  INSERT INTO atlasqueue.audit_log (id, tenant, actor, token_id, action, target, count, detail, request_id, address, refused,
                         idempotency_key, fingerprint, finished)
  SELECT id, tenant, actor, token_id, action, target, count, detail, request_id, address, refused, idempotency_key,
         fingerprint, $2::text::bool
  FROM json_to_recordset($1::text::json) AS acts(id uuid, tenant text, actor json, token_id uuid, action text, target text,
                                                 count int, detail json, request_id text, address text, refused int,
                                                 idempotency_key text, fingerprint text)
  WHERE ($2::text::bool OR (SELECT set_config('synchronous_commit', 'off', true)) = 'off') AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND (SELECT count(*) FROM left_over) >= 0
  ON CONFLICT (tenant, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
  RETURNING id;
