WITH there AS (
    SELECT tenant, queue FROM atlasqueue.queue_counts UNION SELECT tenant, queue FROM atlasqueue.queue_changes UNION SELECT tenant, queue FROM atlasqueue.queues
    UNION SELECT tenant, coalesce(job ->> 'queue', 'default') FROM atlasqueue.schedules
  ), paused AS (
    INSERT INTO atlasqueue.queues AS known (tenant, queue, paused_at) SELECT tenant, queue, now() FROM there ORDER BY tenant, queue
    ON CONFLICT (tenant, queue) DO UPDATE SET paused_at = now() WHERE known.paused_at IS NULL
    RETURNING queue
  ), held AS (
    UPDATE atlasqueue.schedules SET paused_at = now(), updated_at = now() WHERE paused_at IS NULL RETURNING name
  )
  SELECT (SELECT count(*) FROM paused)::int AS queues, (SELECT count(*) FROM held)::int AS schedules;
