-- $1 type
-- $2 payload
-- $3 options
SELECT outcome, id, status FROM atlasqueue.submit_job($1::text, (SELECT $2::text::json), (SELECT $3::text::jsonb));
