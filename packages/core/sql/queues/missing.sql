-- $1 tenant
-- $2 queues
-- $3 queues_max
SELECT wanted.queue, (SELECT count(*)::int FROM ((SELECT DISTINCT queue FROM atlasqueue.queue_counts WHERE tenant = $1 LIMIT $3::int) UNION (SELECT DISTINCT queue FROM atlasqueue.queue_changes WHERE tenant = $1 LIMIT $3::int) UNION (SELECT DISTINCT queue FROM atlasqueue.queues WHERE tenant = $1 LIMIT $3::int)) AS known) AS queues
  FROM unnest($2::text[]) WITH ORDINALITY AS wanted(queue, place)
  WHERE NOT (EXISTS (SELECT FROM atlasqueue.queue_counts AS known WHERE known.tenant = $1 AND known.queue = wanted.queue) OR EXISTS (SELECT FROM atlasqueue.queue_changes AS known WHERE known.tenant = $1 AND known.queue = wanted.queue) OR EXISTS (SELECT FROM atlasqueue.queues AS known WHERE known.tenant = $1 AND known.queue = wanted.queue))
  ORDER BY place;
