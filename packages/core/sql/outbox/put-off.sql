-- $1 id
-- $2 tenant
-- $3 payload
-- $4 seconds
UPDATE atlasqueue.outbox SET payload = (SELECT $3::text::jsonb), not_before = now() + make_interval(secs => $4::float8)
  WHERE id = (SELECT id FROM atlasqueue.outbox WHERE id = $1::bigint AND tenant = $2 FOR UPDATE SKIP LOCKED);
