import { z } from "zod";
import { jobType, queueName } from "../job.ts";
import { jobStatuses } from "../status.ts";
import { limits } from "../../checks/limits.ts";
import { describeFields } from "../../checks/field-texts.ts";

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

/** How many jobs of each queue were submitted and succeeded, and how many attempts failed, in each step of the last hour, oldest first. */
export const throughput = describeFields(
  z.strictObject({
    step_seconds: z.int(),
    from: z.iso.datetime(),
    items: z.array(
      describeFields(
        z.strictObject({
          queue: z.string(),
          submitted: z.array(count),
          succeeded: z.array(count),
          failed: z.array(count),
        }),
        {
          queue: "The queue's name.",
          submitted: "How many jobs were submitted in each step.",
          succeeded: "How many jobs succeeded in each step.",
          failed: "How many attempts failed in each step.",
        },
      ),
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
