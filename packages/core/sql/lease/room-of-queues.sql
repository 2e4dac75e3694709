-- $1 tenant
WITH locked AS MATERIALIZED (
    SELECT json_array_elements_text(nullif(current_setting('atlasqueue.locked', true), '')::json) AS queue
  ), known AS MATERIALIZED (
    SELECT queue, sum(running) AS running FROM (
      SELECT queue, running FROM atlasqueue.queue_counts WHERE tenant = $1 AND queue = ANY(ARRAY(SELECT queue FROM locked))
      UNION ALL
      SELECT queue, running FROM atlasqueue.queue_changes WHERE tenant = $1 AND queue IN (SELECT queue FROM locked)) AS known
    GROUP BY queue
  ), rooms AS MATERIALIZED (
    SELECT queue, 
    greatest(0, coalesce(least(
      queues.concurrency - coalesce(known.running, 0),
      queues.rate_limit - (SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
                           WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key IS NULL
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.rate_period_seconds))), 1000000))::int AS room,
    (SELECT extract(epoch FROM min(started_at) - statement_timestamp()) * 1000 + queues.rate_period_seconds * 1000 FROM atlasqueue.queue_starts
     WHERE 
  queue_starts.tenant = queues.tenant AND queue_starts.queue = queues.queue AND queue_starts.group_key IS NULL
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => queues.rate_period_seconds)
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => queues.rate_period_seconds))::float8 AS retry_in_ms FROM atlasqueue.queues LEFT JOIN known USING (queue)
    WHERE tenant = $1 AND queue = ANY(ARRAY(SELECT queue FROM locked))
  )
  SELECT *, (SELECT set_config('atlasqueue.room', json_object_agg(queue, room)::text, true) FROM rooms WHERE room > 0) AS noted FROM rooms;
