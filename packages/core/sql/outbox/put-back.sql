-- $1 rows
INSERT INTO atlasqueue.outbox (id, kind, version, tenant, key, lane, payload, not_before)
  SELECT id, kind, version, tenant, key, lane, payload, CASE WHEN seconds > 0 THEN now() + make_interval(secs => seconds) ELSE '-infinity' END
  FROM json_to_recordset($1::text::json)
    AS row(id bigint, kind text, version smallint, tenant text, key text, lane text, payload jsonb, seconds float8)
  RETURNING tenant, not_before::text, id::text;
