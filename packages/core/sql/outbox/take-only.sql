-- $1 id
-- $2 versions
WITH page AS MATERIALIZED (
      SELECT id, kind, version, tenant, key, lane, payload FROM atlasqueue.outbox
      WHERE id = $1::bigint AND version <= ((SELECT $2::text::jsonb) ->> kind)::int
        AND (lane IS NULL OR (
          SELECT true FROM atlasqueue.outbox AS older
          WHERE older.tenant = outbox.tenant AND older.lane = outbox.lane AND older.id < outbox.id LIMIT 1) IS NULL)
        AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED
  ), tried AS MATERIALIZED (
    SELECT page.*, seen.exists IS NOT NULL AND mine.exists IS NULL AS locked FROM page
    LEFT JOIN LATERAL (SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid FOR NO KEY UPDATE SKIP LOCKED) AS mine ON true
  ), taken AS (
    DELETE FROM atlasqueue.outbox WHERE id = ANY(ARRAY(SELECT id FROM tried))
  )
  SELECT id::text, kind, version, tenant, key, lane, payload, locked FROM tried ORDER BY tried.id;
