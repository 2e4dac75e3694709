-- $1 stranger
-- $2 ms
INSERT INTO atlasqueue.redis_owner AS kept (nonces, stranger, refused_until)
  SELECT CASE WHEN $1 = '' THEN ARRAY[gen_random_uuid()::text] ELSE '{}' END, nullif($1, ''),
         CASE WHEN $1 <> '' THEN now() + $2::float8 * interval '1 ms' END
  WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ON CONFLICT (one) DO UPDATE
  SET nonces = (excluded.nonces || kept.nonces)[:16], stranger = excluded.stranger, refused_until = excluded.refused_until,
      renewed_at = CASE WHEN $1 = '' THEN now() ELSE kept.renewed_at END
  WHERE $1 <> '' OR NOT (kept.renewed_at > now() - $2::float8 * interval '1 ms' AND kept.renewed_at <= now())
  RETURNING to_json(nonces) AS nonces;
