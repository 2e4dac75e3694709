import { composed } from "../database/composed.ts";
import { jobStatuses, type JobStatus, type QueueLimits } from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { queues } from "../database/schema/index.ts";
import type { Deps } from "../deps.ts";
import { isLimited } from "../limits/room.ts";

/** The most queues in one answer, by name, unless the caller says otherwise. */
export const queue_stats_max = 1_000;

export type QueueStats = {
  queue: string;
  /** While paused: since when. */
  paused_at: Date | null;
  counts: Record<JobStatus, number>;
  limits: QueueLimits;
  /** Since when the longest-waiting job has been ready. */
  oldest_queued_at: Date | null;
};

/**
 * How many jobs of each status a tenant's queues hold: all that have jobs or are paused, `limit` of those after a name,
 * or one of them. Exact, and as fast with millions of jobs as with none: the moves themselves keep the totals
 * (`counts/changes.ts`).
 *
 * @example
 * const [mail] = await queueStats(deps, "default", { queue: "mail" });
 */
export async function queueStats(
  deps: Pick<Deps, "database">,
  tenant: string,
  { queue, after = "", limit = queue_stats_max }: QueueChoice = {},
): Promise<QueueStats[]> {
  const [text, params] = queue === undefined ? [ofAll, [tenant, after, limit]] : [ofOne, [tenant, queue]];
  const rows = await executeOn(deps.database)<Row>({ text, params });
  return rows.map(showStats);
}

type QueueChoice = { queue?: string | undefined; after?: string | undefined; limit?: number };

type Decided = Pick<
  typeof queues.$inferSelect,
  | "paused_at"
  | "concurrency"
  | "group_concurrency"
  | "rate_limit"
  | "rate_period_seconds"
  | "group_rate_limit"
  | "group_rate_period_seconds"
>;
type Row = Pick<QueueStats, "queue" | "oldest_queued_at"> & QueueStats["counts"] & Decided;

function showStats(row: Row): QueueStats {
  const rate = (limit: number | null, period_seconds: number | null) =>
    limit === null || period_seconds === null ? null : { limit, period_seconds };
  return {
    queue: row.queue,
    paused_at: row.paused_at,
    counts: Object.fromEntries(jobStatuses.map((status) => [status, row[status]])) as Record<JobStatus, number>,
    limits: {
      concurrency: row.concurrency,
      group_concurrency: row.group_concurrency,
      rate: rate(row.rate_limit, row.rate_period_seconds),
      group_rate: rate(row.group_rate_limit, row.group_rate_period_seconds),
    },
    oldest_queued_at: row.oldest_queued_at,
  };
}

const decided =
  "paused_at, concurrency, group_concurrency, rate_limit, rate_period_seconds, group_rate_limit, group_rate_period_seconds";

/**
 * The totals and the changes are read in one snapshot, so that a concurrent fold is seen whole or not at all. The
 * oldest job is found by stepping from one priority in use to the next: the index has the oldest of each in front, and
 * min(ready_at) would read the whole backlog.
 */
const stats = (one: string, limit = "1") => `
  SELECT queue, ${decided}, ${jobStatuses.map((status) => `coalesce(${status}, 0)::float8 AS ${status}`).join(", ")},
         CASE WHEN queued > 0 THEN (
           WITH RECURSIVE fronts AS (
             (SELECT priority, ready_at FROM jobs
              WHERE tenant = $1 AND jobs.queue = held.queue AND ready_at IS NOT NULL
              ORDER BY priority DESC, ready_at LIMIT 1)
             UNION ALL
             SELECT next.priority, next.ready_at FROM fronts, LATERAL (
               SELECT priority, ready_at FROM jobs
               WHERE tenant = $1 AND jobs.queue = held.queue AND ready_at IS NOT NULL AND priority < fronts.priority
               ORDER BY priority DESC, ready_at LIMIT 1) AS next
           ) SELECT min(ready_at) FROM fronts
         ) END AS oldest_queued_at
  FROM (
    SELECT queue, ${jobStatuses.map((status) => `sum(${status}) AS ${status}`).join(", ")}
    FROM (SELECT * FROM queue_counts WHERE tenant = $1 ${one}
          UNION ALL SELECT * FROM queue_changes WHERE tenant = $1 ${one}) AS known
    GROUP BY queue
    HAVING ${jobStatuses.map((status) => `sum(${status}) <> 0`).join(" OR ")}
  ) AS held
  FULL JOIN (
    SELECT queue, ${decided} FROM queues
    WHERE tenant = $1 ${one} AND (paused_at IS NOT NULL OR group_concurrency IS NOT NULL OR ${isLimited})) AS decided USING (queue)
  ORDER BY queue LIMIT ${limit}`;

const ofAll = composed("queues/stats", ["tenant", "after", "queues_max"], stats("AND queue > $2", "$3::int"));
const ofOne = composed("queues/stats-of-one", ["tenant", "queue"], stats("AND queue = $2"));
