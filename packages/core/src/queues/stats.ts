import { composed } from "../database/composed.ts";
import {
  jobStatuses,
  type JobDefaults,
  type JobStatus,
  type QueueLimits,
  type QueueScaling,
} from "@atlasqueue/contract";
import { executeOn } from "../database/statement.ts";
import type { queues } from "../database/schema/index.ts";
import type { Deps, QueueRef } from "../deps.ts";
import { isLimited, startsWithin } from "../limits/capacity.ts";
import { readyQueues } from "./ready-queues.ts";
import { readySince } from "./all-tenants.ts";
import type { Signal } from "../signal/signal.ts";
import { announcedWorkers, servingOf } from "./workers.ts";

/** The most queues in one answer, by name, unless the caller says otherwise. */
export const queue_stats_max = 1_000;

export type QueueStats = {
  queue: string;
  /** While paused: since when. */
  paused_at: Date | null;
  counts: Record<JobStatus, number>;
  limits: QueueLimits;
  defaults: JobDefaults | null;
  /** How many of its jobs started within the period of its rate, up to now; null without a rate. */
  starts: number | null;
  /** Since when the longest-waiting job has been ready. */
  oldest_queued_at: Date | null;
  /** The time of this answer, by the clock of the others. */
  seen_at: Date;
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
  // No name has a control character: nothing comes between a name and the same with one.
  const params = [tenant, queue ?? `${after}\u0001`, queue ?? readyQueues.start, limit];
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
  | "fair_by"
  | "defaults"
>;
type Row = Pick<QueueStats, "queue" | "starts" | "oldest_queued_at" | "seen_at"> & QueueStats["counts"] & Decided;

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
      fair_by: row.fair_by,
    },
    defaults: row.defaults,
    starts: row.starts,
    oldest_queued_at: row.oldest_queued_at,
    seen_at: row.seen_at,
  };
}

const decided =
  "paused_at, concurrency, group_concurrency, rate_limit, rate_period_seconds, group_rate_limit, group_rate_period_seconds, fair_by, defaults";
const isDecided = `(paused_at IS NOT NULL OR group_concurrency IS NOT NULL OR fair_by IS NOT NULL OR defaults IS NOT NULL OR ${isLimited})`;
const columns = jobStatuses.join(", ");
const holdsJobs = `(${jobStatuses.map((status) => `${status} <> 0`).join(" OR ")})`;
const sums = jobStatuses.map((status) => `sum(${status}) AS ${status}`).join(", ");

// A page reads its own rows of the totals, and all changes, of which there are those of a second: a queue with changes
// has its total looked up, the others follow in the order of their names until the page is full. Both are read in one
// snapshot, so that a concurrent fold is seen whole or not at all.
const text = composed(
  "queues/stats",
  ["tenant", "first", "last", "queues_max"],
  `
  WITH changed AS MATERIALIZED (
    SELECT queue, ${sums} FROM atlasqueue.queue_changes WHERE tenant = $1 AND queue BETWEEN $2 AND $3 GROUP BY queue
  ), held AS MATERIALIZED (
    SELECT * FROM (
      (SELECT queue, ${columns} FROM atlasqueue.queue_counts
       WHERE tenant = $1 AND queue BETWEEN $2 AND $3 AND ${holdsJobs} AND queue NOT IN (SELECT queue FROM changed)
       ORDER BY queue LIMIT $4::int)
      UNION ALL
      SELECT changed.queue, ${jobStatuses.map((status) => `changed.${status} + coalesce(total.${status}, 0)`).join(", ")}
      FROM changed LEFT JOIN atlasqueue.queue_counts AS total ON total.tenant = $1 AND total.queue = changed.queue
    ) AS known WHERE ${holdsJobs}
  ), named AS MATERIALIZED (
    SELECT queue FROM held
    UNION
    (SELECT queue FROM atlasqueue.queues WHERE tenant = $1 AND queue BETWEEN $2 AND $3 AND ${isDecided} ORDER BY queue LIMIT $4::int)
    ORDER BY queue LIMIT $4::int
  )
  SELECT named.queue, ${decided}, CASE WHEN rate_limit IS NOT NULL THEN (
           SELECT coalesce(sum(count), 0)::int FROM atlasqueue.queue_starts
           WHERE ${startsWithin("queues", "IS NULL", "rate_period_seconds")}) END AS starts,
         ${jobStatuses.map((status) => `coalesce(${status}, 0)::float8 AS ${status}`).join(", ")},
         CASE WHEN queued > 0 THEN ${readySince("$1", "named.queue")} END AS oldest_queued_at, now() AS seen_at
  FROM named LEFT JOIN held ON held.queue = named.queue
       LEFT JOIN atlasqueue.queues ON queues.tenant = $1 AND queues.queue = named.queue AND ${isDecided}
  ORDER BY named.queue`,
);

/**
 * What an autoscaler needs to know of a queue, from counts that are kept: as fast with millions of jobs as with none.
 * A queue that does not exist yet is one with nothing to do. `workers` and `slots` are null while Redis is away.
 *
 * @example
 * const { backlog, oldest_ready_seconds } = await queueScaling(deps, { tenant: "default", queue: "mail" });
 */
export async function queueScaling(
  deps: Pick<Deps, "database"> & { signal: Signal },
  { tenant, queue }: QueueRef,
): Promise<QueueScaling> {
  const [[stats], announced] = await Promise.all([
    queueStats(deps, tenant, { queue }),
    announcedWorkers(deps.signal, tenant),
  ]);
  const workers = servingOf(announced, queue);
  const ready = stats?.counts.queued ?? 0;
  const running = stats?.counts.running ?? 0;
  const startable = stats ? Math.min(ready, roomIn(stats)) : 0;
  const since = startable > 0 ? stats?.oldest_queued_at : undefined;
  return {
    queue,
    ready,
    running,
    backlog: running + startable,
    oldest_ready_seconds: stats && since ? Math.max(0, stats.seen_at.getTime() - since.getTime()) / 1_000 : 0,
    workers: workers?.length ?? null,
    slots: workers?.reduce((sum, { concurrency }) => sum + concurrency, 0) ?? null,
  };
}

/** How many more jobs its pause and its limits let start now: beyond that, no worker would be of use. */
function roomIn({ paused_at, counts, limits: { concurrency, rate }, starts }: QueueStats): number {
  if (paused_at !== null) return 0;
  const left = (limit: number | undefined, used: number) => Math.max(0, (limit ?? Infinity) - used);
  return Math.min(left(concurrency ?? undefined, counts.running), left(rate?.limit, starts ?? 0));
}
