-- $1 rows_max
-- $2 rest_seconds_max
WITH late AS MATERIALIZED (
    SELECT id FROM dead_letter_replays
    WHERE state = 'running' AND next_at > now() + make_interval(secs => $2::float8 + coalesce(2 / rate, 0))
    LIMIT $1::int FOR UPDATE SKIP LOCKED
  )
  UPDATE dead_letter_replays SET next_at = now() FROM late WHERE dead_letter_replays.id = late.id
  RETURNING dead_letter_replays.id;
