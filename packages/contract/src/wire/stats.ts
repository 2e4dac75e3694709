import { z } from "zod";
import { jobType, queueName } from "./job.ts";
import { jobStatuses } from "./status.ts";
import { limits } from "../checks/limits.ts";

export const statsWindows = ["15m", "1h", "24h", "30d"] as const;
export type StatsWindow = (typeof statsWindows)[number];

/** The query of `GET /v1/stats/series`: of a queue, of a type, of a type in a queue, or of everything. */
export const statsSeriesQuery = z.strictObject({
  window: z
    .enum(statsWindows)
    .default("1h")
    .describe(`one of ${statsWindows.join(", ")}`),
  queue: queueName.optional().describe(queueName.description ?? ""),
  type: jobType.optional().describe(jobType.description ?? ""),
});
export type StatsSeriesQuery = z.output<typeof statsSeriesQuery>;

const count = z.int().min(0);
const duration_ms = z.number().min(0).nullable();

/** Of how many, and the percentiles, each at most 9 % off: they come from buckets. Null when there were none. */
export const durations = z.strictObject({ count, p50_ms: duration_ms, p95_ms: duration_ms, p99_ms: duration_ms });
export type Durations = z.infer<typeof durations>;

/**
 * What happened to jobs. `failed` counts attempts that failed or lost their lease, `retried` those of them that are tried
 * again, `dead` jobs that died. `wait` is from when a job might have run to when it did, `run` how long its handler took.
 */
export const figures = z.strictObject({
  submitted: count,
  succeeded: count,
  failed: count,
  dead: count,
  retried: count,
  wait: durations,
  run: durations,
});

/** Of the time from `at` to the next item's; the last one is under way, and has lasted until `to`. */
export const statsBucket = figures.extend({ at: z.iso.datetime() });
export type StatsBucket = z.infer<typeof statsBucket>;

/** As many items as the window has steps, oldest first, without gaps. */
export const statsSeries = z.strictObject({
  window: z.enum(statsWindows),
  step_seconds: z.int(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  items: z.array(statsBucket),
  total: figures,
});
export type StatsSeries = z.infer<typeof statsSeries>;

const queueNames = z
  .string()
  .transform((text) => [...new Set(text.split(","))])
  .pipe(z.array(queueName).min(1).max(limits.event_queues_max));
const queueNamesAccept = `1 to ${limits.event_queues_max} names of queues, separated by commas`;

/** The query of `GET /v1/stats/throughput`. */
export const throughputQuery = z.strictObject({ queues: queueNames.describe(queueNamesAccept) });

/** How many jobs of each queue succeeded, and how many attempts failed, in each step of the last hour, oldest first. */
export const throughput = z.strictObject({
  step_seconds: z.int(),
  from: z.iso.datetime(),
  items: z.array(z.strictObject({ queue: z.string(), succeeded: z.array(count), failed: z.array(count) })),
});
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
export const problemNow = z.strictObject({
  code: z.enum(problemsNow),
  severity: z.enum(["error", "warning"]),
  detail: z.string(),
  queue: z.string().nullable(),
  count: count.nullable(),
  since: z.iso.datetime().nullable(),
});
export type ProblemNow = z.infer<typeof problemNow>;

/** A tenant's system at a glance. */
export const overview = z.strictObject({
  at: z.iso.datetime(),
  checks: z.strictObject({
    postgres: z.enum(["up", "read_only", "down"]),
    redis: z.enum(["up", "refusing", "down"]),
  }),
  counts: statusCounts,
  /** Those with jobs. */
  queues: count,
  paused_queues: count,
  /** The longest-waiting ready job of the queues that are not paused; with over 300 of them, those with few jobs ready are looked into in turns. */
  oldest_queued: z.strictObject({ queue: z.string(), at: z.iso.datetime() }).nullable(),
  /** Those that announce themselves; null when Redis, which knows them, is away. */
  workers: z.strictObject({ count, slots: count, active: count, stuck: count }).nullable(),
  /** Errors first, at most one of each code. */
  problems: z.array(problemNow),
});
export type Overview = z.infer<typeof overview>;

/** The query of `GET /v1/events`. */
export const liveEventsQuery = z.strictObject({
  queues: queueNames.optional().describe(queueNamesAccept),
});

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
