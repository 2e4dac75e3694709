-- $1 ids
-- $2 token_places
-- $3 tokens
-- $4 lease_seconds
-- $5 progress
WITH held AS MATERIALIZED (SELECT jobs.id, jobs.locked_until FROM atlasqueue.jobs WHERE jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END), free AS MATERIALIZED (
    SELECT id FROM atlasqueue.jobs WHERE id = ANY(ARRAY(SELECT id FROM held)) FOR NO KEY UPDATE SKIP LOCKED
  ), renewed AS (
    UPDATE atlasqueue.jobs SET locked_until = coalesce(now() + make_interval(secs => nullif($4::text, '')::float8), locked_until),
                    progress = coalesce(((SELECT $5::text::jsonb) -> jobs.id::text)::json, progress)
    WHERE jobs.id = ANY(ARRAY(SELECT id FROM free)) AND jobs.id = ANY((SELECT $1::uuid[])::uuid[]) AND jobs.status = 'running'
    AND CASE WHEN cardinality($3::uuid[]) = 1 THEN jobs.lease_token = ($3::uuid[])[1]
             ELSE (jobs.id, jobs.lease_token) IN (SELECT input.id, ($3::uuid[])[input.token] FROM unnest($1::uuid[], $2::int[]) AS input(id, token)) END AND (
      SELECT set_config('synchronous_commit',
        CASE WHEN bool_or(locked_until < now() + make_interval(secs => nullif($4::text, '')::float8 / 2))
             THEN current_setting('synchronous_commit') ELSE 'off' END, true)
      FROM held) IS NOT NULL
    RETURNING jobs.id, locked_until
  ), sooner AS (
    UPDATE atlasqueue.claims SET check_at = now() + make_interval(secs => nullif($4::text, '')::float8)
    WHERE token = ANY(ARRAY(
      SELECT token FROM atlasqueue.claims WHERE token = ANY($3::uuid[]) AND check_at > now() + make_interval(secs => nullif($4::text, '')::float8)
      FOR UPDATE SKIP LOCKED))
  )
  SELECT held.id, renewed.locked_until FROM held LEFT JOIN renewed ON renewed.id = held.id;
