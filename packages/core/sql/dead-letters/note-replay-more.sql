-- $1 id
-- $2 replayed
UPDATE dead_letter_replays
  SET replayed = replayed + $2::int, passed_over = greatest(0, passed_over - $2::int),
      left_over = greatest(0, left_over - $2::int), updated_at = now(),
      next_at = next_at + make_interval(secs => coalesce($2::int / rate, 0))
  WHERE id = $1::uuid;
