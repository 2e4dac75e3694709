-- $1 acts
INSERT INTO atlasqueue.audit_log (id, tenant, actor, token_id, action, target, count, detail, request_id, address, refused,
                         idempotency_key, fingerprint, finished)
  SELECT id, tenant, actor, token_id, action, target, count, detail, request_id, address, refused, idempotency_key,
         fingerprint, true
  FROM json_to_recordset($1::text::json) AS acts(id uuid, tenant text, actor json, token_id uuid, action text, target text,
                                                 count int, detail json, request_id text, address text, refused int,
                                                 idempotency_key text, fingerprint text)
  WHERE true;
