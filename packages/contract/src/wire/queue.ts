import { z } from "zod";
import { jobStatuses } from "./status.ts";
import { limits } from "../checks/limits.ts";
import { listJobsQuery, wholeNumber } from "./listing.ts";
import { describeFields } from "../checks/field-texts.ts";
import { queueDefaults } from "./submit/defaults.ts";

const count = z.int().min(0);

const jobsAtOnce = z.int().min(1).max(limits.concurrency_max).nullable();
const jobsAtOnceAccepts = `an integer from 1 to ${limits.concurrency_max}, or null`;
const rate = describeFields(
  z.strictObject({
    limit: z.int().min(1).max(limits.rate_jobs_max).describe(`an integer from 1 to ${limits.rate_jobs_max}`),
    period_seconds: z
      .number()
      .min(limits.rate_seconds_min)
      .max(limits.rate_seconds_max)
      .describe(`a number of seconds from ${limits.rate_seconds_min} to ${limits.rate_seconds_max}`),
  }),
  {
    limit: "How many jobs may start within a period.",
    period_seconds: "The length of the period.",
  },
).nullable();
const rateAccepts = "an object {limit, period_seconds}, or null";
// Not "tenant": each has queues of its own, which always take turns.
const fairBy = z.enum(["group"]).nullable();
const fairByAccepts = '"group", or null (tenants take turns in any case)';

const known = describeFields(
  z.strictObject({
    concurrency: jobsAtOnce.default(null).describe(jobsAtOnceAccepts),
    group_concurrency: jobsAtOnce.default(null).describe(jobsAtOnceAccepts),
    rate: rate.default(null).describe(rateAccepts),
    group_rate: rate.default(null).describe(rateAccepts),
    fair_by: fairBy.default(null).describe(fairByAccepts),
  }),
  {
    concurrency: "How many jobs of the queue may run at once. Null is no limit.",
    group_concurrency: "How many jobs of one group may run at once. Null is 1, which keeps their order.",
    rate: "How many jobs of the queue may start in a period. Null is no limit.",
    group_rate: "How many jobs of one group may start in a period. Null is no limit.",
    fair_by:
      "Start jobs of each group in turn (round-robin), instead of the oldest first. Not together with `concurrency`, `rate` or `group_rate`.",
  },
);

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
export const queue = describeFields(
  z.strictObject({
    queue: z.string(),
    paused: z.boolean(),
    counts: z.record(z.enum(jobStatuses), count),
    limits: queueLimits,
    defaults: queueDefaults,
    oldest_queued_at: z.iso.datetime().nullable(),
  }),
  {
    queue: "The queue's name.",
    paused: "True if no jobs of the queue are leased.",
    counts: "How many jobs of the queue are in each status.",
    limits: "The queue's limits.",
    defaults: "What jobs of the queue have where they name nothing of their own.",
    oldest_queued_at: "Since when the oldest ready job has waited. Null if no job is ready.",
  },
);
export type Queue = z.infer<typeof queue>;

/** One queue by itself. `starts` are those within the period of its rate, up to now; null without a rate. */
export const oneQueue = describeFields(queue.extend({ starts: count.nullable() }), {
  starts: "How many jobs started within the last period of the queue's `rate`. Null without a rate.",
});
export type OneQueue = z.infer<typeof oneQueue>;

/**
 * What an autoscaler needs to know of a queue. What waits only because of a pause or a limit is in `ready`, but not in
 * `backlog` and `oldest_ready_seconds`: more workers would not help it.
 */
export const queueScaling = describeFields(
  z.strictObject({
    queue: z.string(),
    ready: count,
    running: count,
    backlog: count,
    oldest_ready_seconds: z.number().min(0),
    workers: count.nullable(),
    slots: count.nullable(),
  }),
  {
    queue: "The queue's name.",
    ready: "Jobs that are ready, with those held back by a pause or a limit.",
    running: "Jobs that are running.",
    backlog: "Jobs that are running or could start now. As many slots would be busy.",
    oldest_ready_seconds: "How long the oldest job that could start has been ready. 0 if none could.",
    workers: "Running workers that take jobs of the queue. HTTP workers are not counted. Null if Redis is unavailable.",
    slots: "The slots of those workers. Null if Redis is unavailable.",
  },
);
export type QueueScaling = z.infer<typeof queueScaling>;

/** The query of `GET /v1/queues`: more at once than of other lists, as most tenants have fewer, and people look at all. */
export const listQueuesQuery = describeFields(
  z.strictObject({
    limit: wholeNumber(1, limits.queues_listed_max)
      .default(limits.queues_listed_max)
      .describe(`an integer from 1 to ${limits.queues_listed_max}`),
    cursor: listJobsQuery.shape.cursor.describe(listJobsQuery.shape.cursor.description ?? ""),
  }),
  {
    limit: "How many queues a page has at most.",
  },
);

/** A page of queues; null means that there is no more. */
export const queuePage = describeFields(z.strictObject({ items: z.array(queue), next_cursor: z.string().nullable() }), {
  items: "The queues, by name.",
  next_cursor: "The `cursor` of the next page. Null marks the end.",
});
export type QueuePage = z.infer<typeof queuePage>;
