-- $1 tenant
-- $2 below
-- $3 action
-- $4 token
-- $5 target
-- $6 after
-- $7 before
-- $8 rows_max
-- $9 above
WITH page AS MATERIALIZED (
    SELECT id, tenant, at, actor, token_id, action, target, count, detail, request_id, address, refused, finished FROM (
      SELECT id, tenant, at, actor, token_id, action, target, count, detail, request_id, address, refused, finished, ($3 = '' OR action = $3) AND ($4 = '' OR token_id = nullif($4, '')::uuid)
        AND ($5 = '' OR target = $5) AND ($6 = '' OR at >= nullif($6, '')::timestamptz)
        AND ($7 = '' OR at <= nullif($7, '')::timestamptz) AS found
      FROM atlasqueue.audit_log WHERE tenant = $1 AND id < $2::text::uuid AND id > $9::text::uuid ORDER BY id DESC LIMIT 5000) AS stretch
    WHERE found LIMIT $8::int
  )
  SELECT page.*, ends.reached FROM (
    SELECT CASE WHEN (SELECT count(*) FROM page) < $8::int THEN (
      SELECT id::text FROM atlasqueue.audit_log WHERE tenant = $1 AND id < $2::text::uuid AND id > $9::text::uuid
      ORDER BY audit_log.id DESC OFFSET 4999 LIMIT 1) END AS reached
  ) AS ends LEFT JOIN page ON true ORDER BY page.id DESC;
