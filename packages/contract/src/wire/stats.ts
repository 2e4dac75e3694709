import { z } from "zod";
import { jobType, queueName } from "./job.ts";
import { jobStatuses } from "./status.ts";
import { limits } from "../checks/limits.ts";
import { describeFields } from "../checks/field-texts.ts";

export const statsWindows = ["15m", "1h", "24h", "30d"] as const;
export type StatsWindow = (typeof statsWindows)[number];

/** The query of `GET /v1/stats/series`: of a queue, of a type, of a type in a queue, or of everything. */
export const statsSeriesQuery = describeFields(
  z.strictObject({
    window: z
      .enum(statsWindows)
      .default("1h")
      .describe(`one of ${statsWindows.join(", ")}`),
    queue: queueName.optional().describe(queueName.description ?? ""),
    type: jobType.optional().describe(jobType.description ?? ""),
  }),
  {
    window: "How far back to look, from now.",
    queue: "Only jobs of this queue.",
    type: "Only jobs of this type.",
  },
);
export type StatsSeriesQuery = z.output<typeof statsSeriesQuery>;

const count = z.int().min(0);
const duration_ms = z.number().min(0).nullable();

/** Of how many, and the percentiles, each at most 9 % off: they come from buckets. Null when there were none. */
export const durations = describeFields(
  z.strictObject({ count, p50_ms: duration_ms, p95_ms: duration_ms, p99_ms: duration_ms }),
  {
    count: "How many were measured.",
    p50_ms: "The median, within 9 %. Null if there are none.",
    p95_ms: "The 95th percentile, within 9 %. Null if there are none.",
    p99_ms: "The 99th percentile, within 9 %. Null if there are none.",
  },
);
export type Durations = z.infer<typeof durations>;

/**
 * What happened to jobs. `failed` counts attempts that failed or lost their lease, `retried` those of them that are tried
 * again, `dead` jobs that died. `wait` is from when a job might have run to when it did, `run` how long its handler took.
 */
export const figures = describeFields(
  z.strictObject({
    submitted: count,
    succeeded: count,
    failed: count,
    dead: count,
    retried: count,
    wait: durations,
    run: durations,
  }),
  {
    submitted: "Jobs that were submitted.",
    succeeded: "Jobs that succeeded.",
    failed: "Attempts that failed or lost their lease.",
    dead: "Jobs that became dead letters.",
    retried: "Failed attempts that are retried.",
    wait: "How long jobs waited, from when they could have run.",
    run: "How long handlers ran.",
  },
);

/** Of the time from `at` to the next item's; the last one is under way, and has lasted until `to`. */
export const statsBucket = describeFields(figures.extend({ at: z.iso.datetime() }), {
  at: "When the step began. It ends with the next item, or at `to`.",
});
export type StatsBucket = z.infer<typeof statsBucket>;

/** As many items as the window has steps, oldest first, without gaps. */
export const statsSeries = describeFields(
  z.strictObject({
    window: z.enum(statsWindows),
    step_seconds: z.int(),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
    items: z.array(statsBucket),
    total: figures,
  }),
  {
    window: "How far back the series goes.",
    step_seconds: "How long each step is.",
    from: "When the first step began.",
    to: "When the last step ended, which is now.",
    items: "The steps, oldest first, without gaps.",
    total: "The sums over all steps.",
  },
);
export type StatsSeries = z.infer<typeof statsSeries>;

const queueNames = z
  .string()
  .transform((text) => [...new Set(text.split(","))])
  .pipe(z.array(queueName).min(1).max(limits.event_queues_max));
const queueNamesAccept = `1 to ${limits.event_queues_max} names of queues, separated by commas`;

/** The query of `GET /v1/stats/throughput`. */
export const throughputQuery = describeFields(z.strictObject({ queues: queueNames.describe(queueNamesAccept) }), {
  queues: "Which queues to show.",
});

/** How many jobs of each queue succeeded, and how many attempts failed, in each step of the last hour, oldest first. */
export const throughput = describeFields(
  z.strictObject({
    step_seconds: z.int(),
    from: z.iso.datetime(),
    items: z.array(
      describeFields(z.strictObject({ queue: z.string(), succeeded: z.array(count), failed: z.array(count) }), {
        queue: "The queue's name.",
        succeeded: "How many jobs succeeded in each step.",
        failed: "How many attempts failed in each step.",
      }),
    ),
  }),
  {
    step_seconds: "How long each step is.",
    from: "When the first step began.",
    items: "The queues, in the order of the request.",
  },
);
export type Throughput = z.infer<typeof throughput>;

const statusCounts = z.record(z.enum(jobStatuses), count);

export const problemsNow = [
  "postgres_read_only",
  "redis_down",
  "redis_refusing",
  "dead_letters_rising",
  "queue_without_workers",
  "workers_stuck",
  "oldest_job_waits",
  "sweep_behind",
  "counts_drifting",
] as const;

/** Something that a person should look at. `queue`, `count` and `since` are null where they say nothing. */
export const problemNow = describeFields(
  z.strictObject({
    code: z.enum(problemsNow),
    severity: z.enum(["error", "warning"]),
    detail: z.string(),
    queue: z.string().nullable(),
    count: count.nullable(),
    since: z.iso.datetime().nullable(),
  }),
  {
    code: "A stable name of the problem.",
    severity: "How urgent it is.",
    detail: "What is wrong, and what helps.",
    queue: "The queue that it is about. Null if there is none.",
    count: "How many things are affected. Null if that does not apply.",
    since: "Since when. Null if it is not known.",
  },
);
export type ProblemNow = z.infer<typeof problemNow>;

/** A tenant's system at a glance. */
export const overview = describeFields(
  z.strictObject({
    at: z.iso.datetime(),
    checks: describeFields(
      z.strictObject({
        postgres: z.enum(["up", "read_only", "down"]),
        redis: z.enum(["up", "refusing", "down"]),
      }),
      {
        postgres: "Whether PostgreSQL can be reached, and takes writes.",
        redis: "Whether Redis can be reached, and takes writes.",
      },
    ),
    counts: statusCounts,
    queues: count,
    paused_queues: count,
    oldest_queued: describeFields(z.strictObject({ queue: z.string(), at: z.iso.datetime() }), {
      queue: "The job's queue.",
      at: "Since when it has waited.",
    }).nullable(),
    workers: describeFields(z.strictObject({ count, slots: count, active: count, stuck: count }), {
      count: "How many workers run.",
      slots: "How many jobs they run at once.",
      active: "How many jobs they run now.",
      stuck: "How many should take jobs, and do not.",
    }).nullable(),
    problems: z.array(problemNow),
  }),
  {
    at: "When the overview was made.",
    checks: "Whether the servers can be reached.",
    counts: "How many jobs are in each status.",
    queues: "How many queues have jobs.",
    paused_queues: "How many of them are paused.",
    oldest_queued: "The ready job that has waited longest in a queue that is not paused. Null if no job is ready.",
    workers: "The workers that run now. HTTP workers are not counted. Null if Redis is unavailable.",
    problems: "What is wrong now, errors first. Empty if all is well.",
  },
);
export type Overview = z.infer<typeof overview>;

/** The query of `GET /v1/events`. */
export const liveEventsQuery = describeFields(
  z.strictObject({
    queues: queueNames.optional().describe(queueNamesAccept),
  }),
  {
    queues: "Which queues to follow by name. All jobs are counted in any case.",
  },
);

const changedCounts = z.strictObject({
  at: z.iso.datetime(),
  /** Of all the tenant's queues. */
  counts: statusCounts,
  /** Those that changed; at first all that are followed. */
  queues: z.array(z.strictObject({ queue: z.string(), counts: statusCounts })),
});
const finishedJobs = z.strictObject({
  at: z.iso.datetime(),
  items: z.array(
    z.strictObject({
      id: z.string(),
      queue: z.string(),
      type: z.string(),
      status: z.enum(["succeeded", "dead", "cancelled"]),
      finished_at: z.iso.datetime(),
    }),
  ),
  /** There were others. */
  more: z.boolean(),
});
const endOfEvents = z.strictObject({ reason: z.enum(["token_ended", "draining"]) });

/** What `GET /v1/events` sends: the name of a server-sent event, and its data. */
export const liveEvent = z.discriminatedUnion("event", [
  z.strictObject({ event: z.literal("counts"), data: changedCounts }),
  z.strictObject({ event: z.literal("finished"), data: finishedJobs }),
  z.strictObject({ event: z.literal("end"), data: endOfEvents }),
]);
export type LiveEvent = z.infer<typeof liveEvent>;
