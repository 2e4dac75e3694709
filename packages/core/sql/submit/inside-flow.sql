-- $1 jobs
-- $2 options
SELECT id FROM unnest(atlasqueue.submit_flow((SELECT $1::text::json), (SELECT $2::text::jsonb))) AS made(id);
