-- $1 id
-- $2 tenant
-- $3 filter
-- $4 patch
-- $5 rate
-- $6 matched
-- $7 matched_complete
-- $8 until_us
-- $9 made_by
-- $10 payload_bytes_max
INSERT INTO dead_letter_replays (id, tenant, state, filter, patch, rate, matched, matched_complete, until_us, place,
                                   next_at, made_by, payload_bytes_max, created_at, updated_at)
  SELECT $1::text::uuid, $2, 'running', $3::text::json, nullif($4::text, '')::json, nullif($5::float8, 0), $6::int,
         $7::text::boolean, $8::float8, '{"start":true}', now(), $9::text::json, $10::int, now(), now()
  WHERE (SELECT count(*) FROM dead_letter_replays WHERE tenant = $2 AND state IN ('running', 'paused')) < 20
  RETURNING *;
