import { executeOn } from "../database/statement.ts";
import type { Deps } from "../deps.ts";

/**
 * How many buckets a rate's period is divided into. A start counts for up to a hundredth of the period longer than it
 * must.
 */
const buckets = 100;

/**
 * The end of the bucket that contains this moment. Counted from there, no start in the bucket leaves a window too
 * early.
 */
const endOfBucket = (seconds: string) => `greatest(statement_timestamp(), to_timestamp(
      ceil(extract(epoch FROM statement_timestamp()) * ${buckets} / ${seconds}) * ${seconds} / ${buckets}))`;

/**
 * Parts of a WITH that note the starts of `leased` (queue, group_key) in queues and groups with rates: `open` are their
 * locked rows of `queues`, and $4 is the tenant. At most a hundred and one rows are kept per queue, and per group,
 * however many jobs start in the period; those that have left the window go at the next claim.
 */
export const noteStarts = `
  of_queues AS MATERIALIZED (
    SELECT leased.queue, ${endOfBucket("rate_period_seconds")} AS ends_at, count(*)::int AS count
    FROM leased JOIN open ON open.queue = leased.queue
    WHERE rate_limit IS NOT NULL GROUP BY leased.queue, rate_period_seconds
  ), of_groups AS MATERIALIZED (
    SELECT leased.queue, leased.group_key, ${endOfBucket("group_rate_period_seconds")} AS ends_at, count(*)::int AS count,
           statement_timestamp() - make_interval(secs => group_rate_period_seconds) AS since
    FROM leased JOIN open ON open.queue = leased.queue
    WHERE group_rate_limit IS NOT NULL AND leased.group_key IS NOT NULL
    GROUP BY leased.queue, leased.group_key, group_rate_period_seconds
  ), more_of_queues AS (
    UPDATE atlasqueue.queue_starts SET count = queue_starts.count + of_queues.count FROM of_queues
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = of_queues.queue AND queue_starts.group_key IS NULL
      AND queue_starts.started_at = of_queues.ends_at
    RETURNING queue_starts.queue
  ), more_of_groups AS (
    UPDATE atlasqueue.queue_starts SET count = queue_starts.count + of_groups.count FROM of_groups
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = of_groups.queue AND queue_starts.group_key = of_groups.group_key
      AND queue_starts.started_at = of_groups.ends_at
    RETURNING queue_starts.queue, queue_starts.group_key
  ), started AS (
    INSERT INTO atlasqueue.queue_starts (tenant, queue, group_key, started_at, count)
    SELECT $4, queue, NULL, ends_at, count FROM of_queues WHERE queue NOT IN (SELECT queue FROM more_of_queues)
    UNION ALL
    SELECT $4, queue, group_key, ends_at, count FROM of_groups
    WHERE (queue, group_key) NOT IN (SELECT queue, group_key FROM more_of_groups)
  ), passed_of_queues AS (
    DELETE FROM atlasqueue.queue_starts USING open
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = open.queue AND queue_starts.group_key IS NULL
      AND queue_starts.started_at <= statement_timestamp() - make_interval(secs => coalesce(rate_period_seconds, 0))
  ), passed_of_groups AS (
    DELETE FROM atlasqueue.queue_starts USING of_groups
    WHERE queue_starts.tenant = $4 AND queue_starts.queue = of_groups.queue AND queue_starts.group_key = of_groups.group_key
      AND queue_starts.started_at <= of_groups.since
  )`;

/**
 * Forget a bounded number of starts that have left their windows: those of groups that start no more jobs, and of
 * queues whose rate was removed. Returns how many.
 */
export async function forgetPastStarts(deps: Pick<Deps, "database">, rows_max: number): Promise<number> {
  const [row] = await executeOn(deps.database)<{ forgotten: number }>({ text: forget, params: [rows_max] });
  return row?.forgotten ?? 0;
}

const forget = `
  WITH forgotten AS (
    DELETE FROM atlasqueue.queue_starts WHERE ctid = ANY(ARRAY(
      SELECT queue_starts.ctid FROM atlasqueue.queue_starts LEFT JOIN atlasqueue.queues USING (tenant, queue)
      WHERE started_at <= now() - make_interval(secs => coalesce(
        CASE WHEN group_key IS NULL THEN rate_period_seconds ELSE group_rate_period_seconds END, 0))
      LIMIT $1::int FOR UPDATE OF queue_starts SKIP LOCKED))
    RETURNING 1
  )
  SELECT count(*)::int AS forgotten FROM forgotten`;
