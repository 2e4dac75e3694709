-- $1 time
-- $2 overlap_seconds
-- $3 id
-- $4 may_be_ahead
SELECT id, to_char(dead_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS time, to_char(least(dead_at, now()) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS reached FROM atlasqueue.jobs
  WHERE dead_at IS NOT NULL AND (dead_at, id) > (
    CASE WHEN $4::text::boolean AND $1::text::timestamptz > now() THEN '-infinity'
         ELSE $1::text::timestamptz - make_interval(secs => $2::float8) END, $3::text::uuid)
  ORDER BY dead_at, id LIMIT 1000;
