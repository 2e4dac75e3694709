-- $1 id
-- $2 state
-- $3 place
-- $4 replayed
-- $5 passed_over
-- $6 left_over
-- $7 passes
-- $8 seconds
UPDATE dead_letter_replays
  SET state = $2, place = $3::text::json, replayed = replayed + $4::int, passed_over = $5::int, left_over = $6::int,
      passes = passes + $7::int, updated_at = now(), finished_at = CASE WHEN $2 = 'done' THEN now() END,
      next_at = greatest(next_at, now() - interval '1 second') + make_interval(secs => $8::float8)
  WHERE id = $1::uuid;
