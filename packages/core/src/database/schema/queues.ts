import type { JobDefaults, QueueLimits } from "@atlasqueue/contract";
import { bigint, doublePrecision, index, integer, json, primaryKey, text, atlasqueue, time } from "../drizzle.ts";

/** What people decided about a queue. Queues without such decisions have no row. */
export const queues = atlasqueue.table(
  "queues",
  {
    tenant: text().notNull(),
    queue: text().notNull(),
    /** While paused: since when. Nothing of the queue is claimed then. */
    paused_at: time(),
    /** Jobs of one group that may run at once; one by default, which is what makes it strictly first in, first out. */
    group_concurrency: integer(),
    /** Jobs of the queue that may run at once. */
    concurrency: integer(),
    /** Starts within any period of that many seconds: of the queue, and of each of its groups. */
    rate_limit: integer(),
    rate_period_seconds: doublePrecision(),
    group_rate_limit: integer(),
    group_rate_period_seconds: doublePrecision(),
    /** What takes turns when jobs are handed out; null when the oldest job is next, whatever its group or tenant. */
    fair_by: text().$type<QueueLimits["fair_by"]>(),
    /** With `fair_by`: when a job without a group started last. */
    ungrouped_started_at: time(),
    /** What its jobs have where they name none of their own, without nulls; null when there is nothing. */
    defaults: json<JobDefaults>(),
  },
  (row) => [primaryKey({ columns: [row.tenant, row.queue] })],
);

/**
 * When jobs of queues with a rate started, one row per hundredth of the rate's period, kept for the period: `group_key`
 * is null for the queue's own rate, `started_at` is the end of the hundredth.
 */
export const queueStarts = atlasqueue.table(
  "queue_starts",
  {
    tenant: text().notNull(),
    queue: text().notNull(),
    group_key: text(),
    started_at: time().notNull(),
    count: integer().notNull(),
  },
  (row) => [index("queue_starts_window").on(row.tenant, row.queue, row.group_key, row.started_at)],
);

const counts = <T>(column: () => T) => ({
  scheduled: column(),
  blocked: column(),
  queued: column(),
  running: column(),
  failed: column(),
  succeeded: column(),
  dead: column(),
  cancelled: column(),
});
const total = () => bigint({ mode: "number" }).notNull().default(0);
const change = () => integer().notNull().default(0);

/**
 * How many jobs of a queue are in each status: the sum of this row and of those in `queue_changes`. Every move of a job
 * writes its change in its own statement, one row per batch and queue; the sweep adds them up here. So no one waits for
 * a counter, and nothing is counted.
 */
export const queueCounts = atlasqueue.table(
  "queue_counts",
  { tenant: text().notNull(), queue: text().notNull(), ...counts(total) },
  (row) => [primaryKey({ columns: [row.tenant, row.queue] })],
);

export const queueChanges = atlasqueue.table("queue_changes", {
  tenant: text().notNull(),
  queue: text().notNull(),
  ...counts(change),
});
