-- $1 replays_max
DELETE FROM dead_letter_replays WHERE id = ANY(ARRAY(
    SELECT id FROM dead_letter_replays WHERE finished_at < now() - interval '30 days' LIMIT $1::int
    FOR UPDATE SKIP LOCKED))
  RETURNING 1;
