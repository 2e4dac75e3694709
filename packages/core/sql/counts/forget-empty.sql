-- $1 queues_max
DELETE FROM atlasqueue.queue_counts WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM atlasqueue.queue_counts WHERE (scheduled, blocked, queued, running, failed, succeeded, dead, cancelled) = (0, 0, 0, 0, 0, 0, 0, 0) LIMIT $1::int FOR UPDATE SKIP LOCKED)) AND (scheduled, blocked, queued, running, failed, succeeded, dead, cancelled) = (0, 0, 0, 0, 0, 0, 0, 0)
  RETURNING 1;
