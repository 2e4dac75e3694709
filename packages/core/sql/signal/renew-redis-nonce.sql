-- $1 renew_ms
INSERT INTO atlasqueue.redis_owner AS kept (nonces) SELECT ARRAY[gen_random_uuid()::text] WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ON CONFLICT (one) DO UPDATE
  SET nonces = (excluded.nonces || kept.nonces)[:16], renewed_at = now(), stranger = NULL, refused_until = NULL
  WHERE NOT (kept.renewed_at > now() - $1::float8 * interval '1 ms' AND kept.renewed_at <= now())
  RETURNING to_json(nonces) AS nonces;
