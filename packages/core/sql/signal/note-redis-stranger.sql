-- $1 stranger
-- $2 refused_ms
INSERT INTO atlasqueue.redis_owner (nonces, stranger, refused_until) SELECT '{}', $1, now() + $2::float8 * interval '1 ms' WHERE (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL
  ON CONFLICT (one) DO UPDATE SET stranger = excluded.stranger, refused_until = excluded.refused_until;
