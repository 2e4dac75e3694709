-- $1 ids
-- $2 fingerprints
WITH free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY($1::uuid[]) AND dead_at IS NOT NULL AND error_fingerprint IS NULL
    FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE jobs SET error_fingerprint = named.fingerprint
  FROM unnest($1::uuid[], $2::text[]) AS named(id, fingerprint)
  WHERE jobs.id = named.id AND jobs.id IN (SELECT id FROM free);
