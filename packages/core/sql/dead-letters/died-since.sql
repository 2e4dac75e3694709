-- $1 time
-- $2 overlap_seconds
-- $3 id
SELECT id, to_char(dead_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time FROM jobs
  WHERE dead_at IS NOT NULL AND (dead_at, id) > ($1::text::timestamptz - make_interval(secs => $2::float8), $3::text::uuid)
  ORDER BY dead_at, id LIMIT 1000;
