-- $1 tenant
-- $2 id
-- $3 status
-- $4 cursor
-- $5 done
-- $6 passed_over
-- $7 failed
-- $8 passes
-- $9 seconds
UPDATE atlasqueue.operations
  SET status = $3, cursor = $4::text::json, done = done + $5::int, passed_over = $6::int, failed = $7::int,
      passes = passes + $8::int, updated_at = now(), finished_at = CASE WHEN $3 = 'done' THEN now() END,
      next_at = greatest(CASE WHEN next_at > now() + make_interval(secs => 60 + coalesce(2 / rate, 0)) THEN now() ELSE next_at END, now() - interval '1 second') + make_interval(secs => $9::float8)
  WHERE tenant = $1 AND id = $2::uuid;
