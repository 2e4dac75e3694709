import { z } from "zod";
import { describeFields } from "../../checks/field-texts.ts";
import { problemsNow } from "../runbooks.ts";
import { jobStatuses } from "../status.ts";

const count = z.int().min(0);
const statusCounts = z.record(z.enum(jobStatuses), count);

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

/** What `GET /readyz` responds with. */
export const readiness = describeFields(
  z.strictObject({
    status: z.enum(["ok", "degraded", "unavailable"]),
    checks: overview.shape.checks,
    connections: describeFields(z.strictObject({ open: z.int(), busy: z.int(), max: z.int(), waiting: z.int() }), {
      open: "How many are open.",
      busy: "How many of those have a statement or a transaction under way.",
      max: "How many may be open.",
      waiting: "How many statements wait for a free one.",
    }),
    reason: z.string().optional(),
  }),
  {
    status: "`degraded` works without Redis. `unavailable` can't do its work.",
    connections:
      "This process's connections to PostgreSQL. If all are busy and PostgreSQL is `down`, perhaps only this process has too much to do.",
    reason: "Why Redis can't be used: its last error, or that another database uses it.",
  },
);
