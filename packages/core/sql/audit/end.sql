-- $1 acts
WITH ended AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1::text::json) AS acts(id uuid, tenant text, target text, count int, detail json, done boolean)
  ), forgotten AS (
    DELETE FROM atlasqueue.audit_log USING ended WHERE audit_log.id = ended.id AND audit_log.tenant = ended.tenant AND NOT done
  )
  UPDATE atlasqueue.audit_log SET finished = true, target = ended.target, count = ended.count, detail = ended.detail
  FROM ended WHERE audit_log.id = ended.id AND audit_log.tenant = ended.tenant AND done;
