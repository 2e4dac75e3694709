-- $1 acts
WITH ended AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS acts(id uuid, tenant text, target text, count int, detail json, outcome text)
  ), forgotten AS (
    DELETE FROM atlasqueue.audit_log USING ended
    WHERE audit_log.id = ended.id AND audit_log.tenant = ended.tenant AND outcome = 'nothing_changed' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  )
  UPDATE atlasqueue.audit_log SET finished = outcome = 'done', target = ended.target, count = ended.count, detail = ended.detail,
    idempotency_key = CASE WHEN outcome = 'done' THEN idempotency_key END
  FROM ended WHERE audit_log.id = ended.id AND audit_log.tenant = ended.tenant AND outcome <> 'nothing_changed' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL;
