-- $1 rows_max
-- $2 versions
-- $3 tenant
-- $4 not_before
-- $5 id
WITH RECURSIVE lines(tenant) AS (
    (SELECT tenant FROM atlasqueue.outbox WHERE $5 = '' ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM atlasqueue.outbox WHERE $5 = '' AND tenant > lines.tenant ORDER BY tenant LIMIT 1)
    FROM lines WHERE tenant IS NOT NULL
  ), turns AS MATERIALIZED (
    SELECT tenant, greatest(1, $1::int / count(*) OVER ()) AS share FROM lines WHERE tenant IS NOT NULL
    ORDER BY random() LIMIT $1::int
  ), found AS MATERIALIZED (
    SELECT * FROM (
      SELECT ctid AS lies_at, id, kind, version, tenant, key, lane, payload, not_before FROM atlasqueue.outbox
      WHERE tenant = $3 AND not_before = $4::text::timestamptz AND id = nullif($5, '')::bigint AND version <= ((SELECT $2::text::jsonb) ->> kind)::int
        AND (lane IS NULL OR (
          SELECT first.id = outbox.id OR first.not_before = '-infinity' FROM atlasqueue.outbox AS first
          WHERE first.lane IS NOT NULL
        AND (first.tenant, first.lane) >= (outbox.tenant, outbox.lane)
        AND (first.tenant, first.lane) <= (outbox.tenant, outbox.lane) ORDER BY first.tenant, first.lane, first.id LIMIT 1))
        AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL FOR UPDATE SKIP LOCKED) AS one
    UNION ALL
    SELECT one.* FROM turns CROSS JOIN LATERAL (
      SELECT ctid AS lies_at, id, kind, version, tenant, key, lane, payload, not_before FROM atlasqueue.outbox
      WHERE tenant = turns.tenant AND not_before <= now() AND version <= ((SELECT $2::text::jsonb) ->> kind)::int
        AND (lane IS NULL OR (
          SELECT first.id = outbox.id OR first.not_before = '-infinity' FROM atlasqueue.outbox AS first
          WHERE first.lane IS NOT NULL
        AND (first.tenant, first.lane) >= (outbox.tenant, outbox.lane)
        AND (first.tenant, first.lane) <= (outbox.tenant, outbox.lane) ORDER BY first.tenant, first.lane, first.id LIMIT 1))
        AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('idle_in_transaction_session_timeout', '2000', true)) IS NOT NULL
      ORDER BY not_before, id LIMIT share FOR UPDATE SKIP LOCKED) AS one
  ), ahead AS MATERIALIZED (
    SELECT * FROM (SELECT DISTINCT tenant, lane FROM found WHERE lane IS NOT NULL) AS lanes CROSS JOIN LATERAL (
      SELECT id AS before FROM atlasqueue.outbox
      WHERE id NOT IN (SELECT id FROM found) AND outbox.lane IS NOT NULL
        AND (outbox.tenant, outbox.lane) >= (lanes.tenant, lanes.lane)
        AND (outbox.tenant, outbox.lane) <= (lanes.tenant, lanes.lane) ORDER BY outbox.tenant, outbox.lane, outbox.id LIMIT 1) AS one
  ), page AS MATERIALIZED (
    SELECT found.* FROM found LEFT JOIN ahead USING (tenant, lane) WHERE before IS NULL OR id < before
  ), tried AS MATERIALIZED (
    SELECT page.*, seen.exists IS NOT NULL AND mine.exists IS NULL AS locked FROM page
    LEFT JOIN LATERAL (SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid OFFSET 0) AS seen ON true
    LEFT JOIN LATERAL (
      SELECT true AS exists FROM atlasqueue.jobs WHERE jobs.id = key::uuid FOR NO KEY UPDATE SKIP LOCKED) AS mine ON true
  ), taken AS (
    DELETE FROM atlasqueue.outbox WHERE ctid = ANY(ARRAY(SELECT lies_at FROM tried))
  )
  SELECT id::text, kind, version, tenant, key, lane, payload, not_before::text, locked FROM tried ORDER BY tried.id;
