import { composed } from "../database/composed.ts";
import { executeOn } from "../database/statement.ts";
import type { Deps, QueueRef } from "../deps.ts";

/**
 * A condition on `queues`: claims must check how much room there is. A limit on group concurrency alone is enforced by
 * the groups.
 */
export const isLimited = "(concurrency IS NOT NULL OR rate_limit IS NOT NULL OR group_rate_limit IS NOT NULL)";

/** What is in the window of a rate that ends now: at the time of the statement, after any wait for a lock. */
export const startsWithin = (row: string, group: string, seconds: string) => `
  queue_starts.tenant = ${row}.tenant AND queue_starts.queue = ${row}.queue AND queue_starts.group_key ${group}
    AND queue_starts.started_at > statement_timestamp() - make_interval(secs => ${row}.${seconds})`;

const running = (row: string) => `(
    SELECT coalesce(sum(running), 0) FROM (
      SELECT running FROM queue_counts AS known WHERE known.tenant = ${row}.tenant AND known.queue = ${row}.queue
      UNION ALL
      SELECT running FROM queue_changes AS known WHERE known.tenant = ${row}.tenant AND known.queue = ${row}.queue) AS known)`;

/**
 * How many more jobs of a queue may start, as columns of a query over rows of `queues`: `room`, and `retry_in_ms`, when
 * there will be more if the rate is used up. The jobs' own moves count what runs, so a crash leaks no room: a dead
 * worker's job counts until its lease is taken back. Exact under the lock of the queue's row.
 */
export const roomIn = (row: string) => `
    greatest(0, coalesce(least(
      ${row}.concurrency - ${running(row)},
      ${row}.rate_limit - (SELECT coalesce(sum(count), 0) FROM queue_starts
                           WHERE ${startsWithin(row, "IS NULL", "rate_period_seconds")})), 1000000))::int AS room,
    (SELECT extract(epoch FROM min(started_at) - statement_timestamp()) * 1000 + ${row}.rate_period_seconds * 1000 FROM queue_starts
     WHERE ${startsWithin(row, "IS NULL", "rate_period_seconds")})::float8 AS retry_in_ms`;

/** A condition on rows with a group_key: by the group rate of the queue `row`, its group may start another job. */
export const groupMayStart = (row: string, job: string) => `(
    ${job}.group_key IS NULL OR ${row}.group_rate_limit IS NULL OR ${row}.group_rate_limit > (
      SELECT coalesce(sum(count), 0) FROM queue_starts
      WHERE ${startsWithin(row, `= ${job}.group_key`, "group_rate_period_seconds")}))`;

/** Ready jobs looked at to find some whose groups may start: 30 ms, rather than reading a whole backlog of others. */
export const passed_over_max = 5_000;

/** `room` is how many jobs may start now; `retry_in_ms` when there will be more, if the rate is used up. */
export type QueueRoom = { room: number; retry_in_ms: number | null };

/** How much room a queue with limits has; undefined for one without limits, or paused. */
export async function queueRoom(
  deps: Pick<Deps, "database">,
  { tenant, queue }: QueueRef,
): Promise<QueueRoom | undefined> {
  const [row] = await executeOn(deps.database)<QueueRoom>({ text, params: [tenant, queue] });
  return row;
}

const text = composed(
  "limits/room",
  ["tenant", "queue"],
  `SELECT ${roomIn("queues")} FROM queues WHERE tenant = $1 AND queue = $2 AND paused_at IS NULL AND ${isLimited}`,
);
