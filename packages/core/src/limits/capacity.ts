/**
 * A condition on `queues`: claims must check how much room there is. A limit on group concurrency alone is enforced by
 * the groups.
 */
export const isLimited = "(concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)";

/**
 * A condition on `queues`: claims choose the jobs under the lock of the queue's row, and Redis has one wake-up mark instead
 * of the ids of its jobs.
 * See decisions/2026-11-20-groups-and-limits.md.
 */
export const hasMark = `(fair_by IS NOT NULL OR ${isLimited})`;

/**
 * What is in the window of a rate that ends now: at the time of the statement, after any wait for a lock. If the
 * server's clock was set back by more than a period, what started before that no longer counts: the queue would stand
 * still until the clock is where it was.
 */
export const startsWithin = (row: string, group: string, seconds: string) => `
  queue_starts.tenant = ${row}.tenant AND queue_starts.queue = ${row}.queue AND queue_starts.group_key ${group}
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => ${row}.${seconds})
    AND queue_starts.started_at < statement_timestamp() + make_interval(secs => ${row}.${seconds})`;

const running = (row: string) => `(
    SELECT coalesce(sum(running), 0) FROM (
      SELECT running FROM atlasqueue.queue_counts AS known WHERE known.tenant = ${row}.tenant AND known.queue = ${row}.queue
      UNION ALL
      SELECT running FROM atlasqueue.queue_changes AS known WHERE known.tenant = ${row}.tenant AND known.queue = ${row}.queue) AS known)`;

/**
 * What runs of each of the tenant's queues that `names` selects, as rows (queue, running). As the changes have no index,
 * they are read once for all of the queues.
 */
export const runningByQueue = (tenant: string, names: string) => `
    SELECT queue, sum(running) AS running FROM (
      SELECT queue, running FROM atlasqueue.queue_counts WHERE tenant = ${tenant} AND queue = ANY(ARRAY(${names}))
      UNION ALL
      SELECT queue, running FROM atlasqueue.queue_changes WHERE tenant = ${tenant} AND queue IN (${names})) AS known
    GROUP BY queue`;

/**
 * How many more jobs of a queue may start, as columns of a query over rows of `queues`: `room`, and `retry_in_ms`, when
 * there will be more if the rate is used up. The jobs' own moves count what runs, so a crash leaks no room: a dead
 * worker's job counts until its lease is taken back. Exact under the lock of the queue's row. `runs` is what runs, where
 * it is known.
 */
export const roomIn = (row: string, runs = running(row)) => `
    greatest(0, coalesce(least(
      ${row}.concurrency - ${runs},
      ${row}.rate_limit - (SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
                           WHERE ${startsWithin(row, "IS NULL", "rate_period_seconds")})), 1000000))::int AS room,
    (SELECT extract(epoch FROM min(started_at) - statement_timestamp()) * 1000 + ${row}.rate_period_seconds * 1000 FROM atlasqueue.queue_starts
     WHERE ${startsWithin(row, "IS NULL", "rate_period_seconds")})::float8 AS retry_in_ms`;

/** A condition on rows with a group_key: by the group rate of the queue `row`, its group may start another job. */
export const groupMayStart = (row: string, job: string) => `(
    ${job}.group_key IS NULL OR ${row}.group_rate_limit IS NULL OR ${row}.group_rate_limit > (
      SELECT coalesce(sum(count), 0) FROM atlasqueue.queue_starts
      WHERE ${startsWithin(row, `= ${job}.group_key`, "group_rate_period_seconds")}))`;

/** Starts in the window of a rate that ends now; the first of them leaves it at `free_at_ms`. */
export type RateUse = { limit: number; period_seconds: number; started: number; free_at_ms: number | null };

/** How much of a queue's limits is used; null for those it does not have. */
export type LimitUse = {
  concurrency: number | null;
  running: number | null;
  rate: RateUse | null;
  /** Of the job's group, if it has one. */
  group_rate: RateUse | null;
};

const rateUse = (row: string, rate: "rate" | "group_rate", group: string) => `
    CASE WHEN ${row}.${rate}_limit IS NOT NULL THEN (
      SELECT json_build_object('limit', ${row}.${rate}_limit, 'period_seconds', ${row}.${rate}_period_seconds, 'started', coalesce(sum(count), 0),
                               'free_at_ms', (extract(epoch FROM min(started_at)) + ${row}.${rate}_period_seconds) * 1000)
      FROM atlasqueue.queue_starts WHERE ${startsWithin(row, group, `${rate}_period_seconds`)}) END AS ${rate}`;

/** `LimitUse` as columns of a query over rows of `queues` and jobs. They count what `roomIn` and `groupMayStart` count. */
export const limitUseIn = (row: string, job: string) => `
    ${row}.concurrency, CASE WHEN ${row}.concurrency IS NOT NULL THEN ${running(row)}::int END AS running,${rateUse(row, "rate", "IS NULL")},${rateUse(row, "group_rate", `= ${job}.group_key`)}`;

/** `room` is how many jobs may start now; `retry_in_ms` when there will be more, if the rate is used up. */
export type QueueRoom = { room: number; retry_in_ms: number | null };
