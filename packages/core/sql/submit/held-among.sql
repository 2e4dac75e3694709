-- $1 of
-- $2 tenants
-- $3 queues
-- $4 names
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS one(of, tenant, queue, name, place)
  ), of_groups AS MATERIALIZED (
  SELECT place::int FROM wanted
  LEFT JOIN LATERAL (
    SELECT true AS exists FROM atlasqueue.job_groups AS known
    WHERE (known.tenant, known.queue, known.group_key) = (wanted.tenant, wanted.queue, wanted.name) OFFSET 0) AS seen ON true
  LEFT JOIN LATERAL (
    SELECT true AS free FROM atlasqueue.job_groups AS known
    WHERE (known.tenant, known.queue, known.group_key) = (wanted.tenant, wanted.queue, wanted.name) FOR NO KEY UPDATE SKIP LOCKED) AS part ON true
  WHERE wanted.of = 'group' AND seen.exists IS DISTINCT FROM part.free
  ), of_keys AS MATERIALIZED (
  SELECT place::int FROM wanted
  LEFT JOIN LATERAL (
    SELECT true AS exists FROM atlasqueue.unique_keys AS known
    WHERE (known.tenant, known.queue, known.key) = (wanted.tenant, wanted.queue, wanted.name) OFFSET 0) AS seen ON true
  LEFT JOIN LATERAL (
    SELECT true AS free FROM atlasqueue.unique_keys AS known
    WHERE (known.tenant, known.queue, known.key) = (wanted.tenant, wanted.queue, wanted.name) FOR NO KEY UPDATE SKIP LOCKED) AS part ON true
  WHERE wanted.of = 'unique' AND seen.exists IS DISTINCT FROM part.free
  )
  SELECT place FROM of_groups UNION ALL SELECT place FROM of_keys;
