-- $1 tenant
-- $2 queue
-- $3 concurrency
-- $4 rate_limit
-- $5 rate_period_seconds
-- $6 group_rate_limit
-- $7 group_rate_period_seconds
-- $8 group_concurrency
-- $9 fair_by
WITH before AS MATERIALIZED (
    SELECT group_concurrency, rate_period_seconds, group_rate_period_seconds
    FROM atlasqueue.queues WHERE tenant = $1 AND queue = $2 FOR UPDATE
  ),
  of_queue AS (
    UPDATE atlasqueue.queue_starts SET started_at = statement_timestamp() FROM before
    WHERE tenant = $1 AND queue = $2 AND group_key IS NULL AND coalesce(nullif($5, '')::float8, 0) < rate_period_seconds
      AND started_at > statement_timestamp() + make_interval(secs => coalesce(nullif($5, '')::float8, 0) / 100)
      AND started_at < statement_timestamp() + make_interval(secs => rate_period_seconds)
  ),
  of_groups AS (
    UPDATE atlasqueue.queue_starts SET started_at = statement_timestamp() FROM before
    WHERE tenant = $1 AND queue = $2 AND group_key IS NOT NULL AND coalesce(nullif($7, '')::float8, 0) < group_rate_period_seconds
      AND started_at > statement_timestamp() + make_interval(secs => coalesce(nullif($7, '')::float8, 0) / 100)
      AND started_at < statement_timestamp() + make_interval(secs => group_rate_period_seconds)
  ), decided AS (
    INSERT INTO atlasqueue.queues (tenant, queue, concurrency, rate_limit, rate_period_seconds, group_rate_limit, group_rate_period_seconds,
                        group_concurrency, fair_by)
    VALUES ($1, $2, nullif($3, '')::int, nullif($4, '')::int, nullif($5, '')::float8, nullif($6, '')::int, nullif($7, '')::float8, nullif($8, '')::int, nullif($9, '')::text)
    ON CONFLICT (tenant, queue) DO UPDATE SET
      concurrency = excluded.concurrency, rate_limit = excluded.rate_limit, rate_period_seconds = excluded.rate_period_seconds,
      group_rate_limit = excluded.group_rate_limit, group_rate_period_seconds = excluded.group_rate_period_seconds,
      group_concurrency = excluded.group_concurrency, fair_by = excluded.fair_by
  ), widened AS (
    INSERT INTO atlasqueue.outbox (kind, tenant, payload) SELECT 'groups_widened', $1, jsonb_build_object('queue', $2::text)
    WHERE coalesce(nullif($8, '')::int, 1) > coalesce((SELECT group_concurrency FROM before), 1)
    RETURNING id
  )
  SELECT EXISTS (SELECT FROM widened) AS groups_widened;
