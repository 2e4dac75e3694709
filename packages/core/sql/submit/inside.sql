-- $1 types
-- $2 payloads
-- $3 options
SELECT outcome, id, status
  FROM ROWS FROM (unnest($1::text[]), json_array_elements($2::text::json), json_array_elements($3::text::json))
    WITH ORDINALITY AS asked(type, payload, options, place)
  CROSS JOIN LATERAL atlasqueue.submit_job(type, payload, options::jsonb) ORDER BY place;
