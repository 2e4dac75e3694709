-- $1 stranger
-- $2 refused_ms
INSERT INTO atlasqueue.redis_owner (nonces, stranger, refused_until) VALUES ('{}', $1, now() + $2::float8 * interval '1 ms')
  ON CONFLICT (one) DO UPDATE SET stranger = excluded.stranger, refused_until = excluded.refused_until;
