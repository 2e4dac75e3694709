-- $1 id
-- $2 status
-- $3 cursor
-- $4 done
-- $5 passed_over
-- $6 failed
-- $7 passes
-- $8 seconds
UPDATE atlasqueue.operations
  SET status = $2, cursor = $3::text::json, done = done + $4::int, passed_over = $5::int, failed = $6::int,
      passes = passes + $7::int, updated_at = now(), finished_at = CASE WHEN $2 = 'done' THEN now() END,
      next_at = greatest(CASE WHEN next_at > now() + make_interval(secs => 60 + coalesce(2 / rate, 0)) THEN now() ELSE next_at END, now() - interval '1 second') + make_interval(secs => $8::float8)
  WHERE id = $1::uuid;
