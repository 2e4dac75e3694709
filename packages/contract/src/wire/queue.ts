import { z } from "zod";
import { jobStatuses } from "./status.ts";
import { limits } from "../checks/limits.ts";
import { listJobsQuery, wholeNumber } from "./listing.ts";

const count = z.int().min(0);

const jobsAtOnce = z.int().min(1).max(limits.concurrency_max).nullable();
const jobsAtOnceAccepts = `an integer from 1 to ${limits.concurrency_max}, or null`;
const rate = z
  .strictObject({
    limit: z.int().min(1).max(limits.rate_jobs_max).describe(`an integer from 1 to ${limits.rate_jobs_max}`),
    period_seconds: z
      .number()
      .min(limits.rate_seconds_min)
      .max(limits.rate_seconds_max)
      .describe(`a number of seconds from ${limits.rate_seconds_min} to ${limits.rate_seconds_max}`),
  })
  .nullable();
const rateAccepts = "an object {limit, period_seconds}, or null";
// Not "tenant": each has queues of its own, which always take turns.
const fairBy = z.enum(["group"]).nullable();
const fairByAccepts = '"group", or null (tenants take turns in any case)';

const known = z.strictObject({
  concurrency: jobsAtOnce.default(null).describe(jobsAtOnceAccepts),
  group_concurrency: jobsAtOnce.default(null).describe(jobsAtOnceAccepts),
  rate: rate.default(null).describe(rateAccepts),
  group_rate: rate.default(null).describe(rateAccepts),
  fair_by: fairBy.default(null).describe(fairByAccepts),
});

const turnsAlone = (given: z.output<typeof known>) =>
  given.fair_by === null || (given.concurrency === null && given.rate === null && given.group_rate === null);

/**
 * The limits of a queue. What is left out is unlimited, except `group_concurrency`, which is 1: more lets jobs of a group
 * run side by side, and their order is then only the order in which they start; above 10,000 it counts as that. With `fair_by`, groups
 * take turns.
 */
export const queueLimits = known.refine(turnsAlone, {
  path: ["fair_by"],
  error: "must not be given together with concurrency, rate or group_rate: their jobs start oldest first",
});
export type QueueLimitsInput = z.input<typeof queueLimits>;
export type QueueLimits = z.output<typeof queueLimits>;

/** A queue as people see it. Its counts are kept, not counted: they cost the same whatever the history. */
export const queue = z.strictObject({
  queue: z.string(),
  paused: z.boolean(),
  counts: z.record(z.enum(jobStatuses), count),
  limits: queueLimits,
  /** Since when the longest-waiting job has waited. */
  oldest_queued_at: z.iso.datetime().nullable(),
});
export type Queue = z.infer<typeof queue>;

/** One queue by itself. `starts` are those within the period of its rate, up to now; null without a rate. */
export const oneQueue = queue.extend({ starts: count.nullable() });
export type OneQueue = z.infer<typeof oneQueue>;

/**
 * What an autoscaler needs to know of a queue. What waits only because of a pause or a limit is in `ready`, but not in
 * `backlog` and `oldest_ready_seconds`: more workers would not help it.
 */
export const queueScaling = z.strictObject({
  queue: z.string(),
  ready: count,
  running: count,
  /** Running, and ready to start now: what would keep as many slots busy. */
  backlog: count,
  /** How long the longest-waiting job has been ready; 0 when none could start. */
  oldest_ready_seconds: z.number().min(0),
  /** Those that take jobs of the queue, and their slots; null while Redis is away. Remote workers are not seen. */
  workers: count.nullable(),
  slots: count.nullable(),
});
export type QueueScaling = z.infer<typeof queueScaling>;

/** The query of `GET /v1/queues`: more at once than of other lists, as most tenants have fewer, and people look at all. */
export const listQueuesQuery = z.strictObject({
  limit: wholeNumber(1, limits.queues_listed_max)
    .default(limits.queues_listed_max)
    .describe(`an integer from 1 to ${limits.queues_listed_max}`),
  cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
});

/** A page of queues; null means that there is no more. */
export const queuePage = z.strictObject({ items: z.array(queue), next_cursor: z.string().nullable() });
export type QueuePage = z.infer<typeof queuePage>;
