-- $1 tenant
-- $2 queues_max
SELECT count(*)::int AS queues FROM ((SELECT DISTINCT queue FROM atlasqueue.queue_counts WHERE tenant = $1 LIMIT $2::int) UNION (SELECT DISTINCT queue FROM atlasqueue.queue_changes WHERE tenant = $1 LIMIT $2::int) UNION (SELECT DISTINCT queue FROM atlasqueue.queues WHERE tenant = $1 LIMIT $2::int)) AS known;
