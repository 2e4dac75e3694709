-- $1 rows
INSERT INTO atlasqueue.outbox (id, kind, version, tenant, key, payload, not_before)
  SELECT id, kind, version, tenant, key, payload, CASE WHEN seconds > 0 THEN now() + make_interval(secs => seconds) END
  FROM json_to_recordset($1::text::json)
    AS row(id bigint, kind text, version smallint, tenant text, key text, payload jsonb, seconds float8)
  ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, not_before = excluded.not_before;
