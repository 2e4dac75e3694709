-- $1 rows_max
WITH taken AS (
    DELETE FROM atlasqueue.queue_changes WHERE (SELECT set_config('synchronous_commit', 'off', true)) = 'off' AND (SELECT set_config('lock_timeout', '200ms', true)) IS NOT NULL AND ctid = ANY(ARRAY(
      SELECT ctid FROM atlasqueue.queue_changes LIMIT $1::int FOR UPDATE SKIP LOCKED))
    RETURNING *
  ), added AS (
    INSERT INTO atlasqueue.queue_counts AS total (tenant, queue, scheduled, blocked, queued, running, failed, succeeded, dead, cancelled)
    SELECT tenant, queue, sum(scheduled), sum(blocked), sum(queued), sum(running), sum(failed), sum(succeeded), sum(dead), sum(cancelled) FROM taken GROUP BY tenant, queue ORDER BY tenant, queue
    ON CONFLICT (tenant, queue) DO UPDATE SET scheduled = total.scheduled + excluded.scheduled, blocked = total.blocked + excluded.blocked, queued = total.queued + excluded.queued, running = total.running + excluded.running, failed = total.failed + excluded.failed, succeeded = total.succeeded + excluded.succeeded, dead = total.dead + excluded.dead, cancelled = total.cancelled + excluded.cancelled
  )
  SELECT count(*)::int AS folded FROM taken;
