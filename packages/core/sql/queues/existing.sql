-- $1 tenant
-- $2 queues
SELECT wanted.queue FROM unnest($2::text[]) AS wanted(queue) WHERE EXISTS (SELECT FROM atlasqueue.queue_counts AS known WHERE known.tenant = $1 AND known.queue = wanted.queue) OR EXISTS (SELECT FROM atlasqueue.queue_changes AS known WHERE known.tenant = $1 AND known.queue = wanted.queue) OR EXISTS (SELECT FROM atlasqueue.queues AS known WHERE known.tenant = $1 AND known.queue = wanted.queue);
