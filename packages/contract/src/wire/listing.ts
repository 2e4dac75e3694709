import { z } from "zod";
import { groupName, job, jobType, queueName, tag, timestamp } from "./job.ts";
import { jobStatuses } from "./status.ts";
import { limits } from "../checks/limits.ts";
import { describeFields } from "../checks/field-texts.ts";

const timeAccepts = "an RFC 3339 time with an offset, such as 2030-01-31T12:00:00Z";

/** A whole number as a query parameter. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** The short name of an error's pattern, as `GET /v1/dlq/groups` shows it. */
export const fingerprint = z
  .string()
  .regex(/^[0-9a-f]{16}$/)
  .describe("the 16 hexadecimal digits that a group of dead letters is named by");

/** The query of `GET /v1/jobs`. A cursor is opaque: it comes from the page before. */
export const listJobsQuery = describeFields(
  z.strictObject({
    queue: queueName.optional().describe(queueName.description ?? ""),
    type: jobType.optional().describe(jobType.description ?? ""),
    status: z
      .enum(jobStatuses)
      .optional()
      .describe(`one of ${jobStatuses.join(", ")}`),
    group: groupName.optional().describe(groupName.description ?? ""),
    tag: tag.optional().describe(tag.description ?? ""),
    fingerprint: fingerprint.optional().describe(fingerprint.description ?? ""),
    created_after: timestamp.optional().describe(timeAccepts),
    created_before: timestamp.optional().describe(timeAccepts),
    worker: z
      .string()
      .min(1)
      .max(limits.worker_id_chars_max)
      .optional()
      .describe(`a worker's id, of 1 to ${limits.worker_id_chars_max} characters: its running jobs`),
    key: z
      .string()
      .min(1)
      .max(limits.idempotency_key_chars_max)
      .optional()
      .describe(`an idempotency key, of 1 to ${limits.idempotency_key_chars_max} characters`),
    search: z
      .string()
      .min(1)
      .max(limits.search_chars_max)
      .regex(/^[^\0]*$/)
      .optional()
      .describe(`a text of 1 to ${limits.search_chars_max} characters to find in payload, result or error`),
    limit: wholeNumber(1, limits.list_items_max)
      .default(limits.list_items_default)
      .describe(`an integer from 1 to ${limits.list_items_max}`),
    cursor: z.string().min(1).max(512).optional().describe("the next_cursor of a page before this one"),
  }),
  {
    queue: "Only jobs of this queue.",
    type: "Only jobs of this type.",
    status: "Only jobs in this status.",
    group: "Only jobs of this group.",
    tag: "Only jobs with this tag.",
    fingerprint: "Only dead letters whose error has this pattern.",
    created_after: "Only jobs that were submitted after this time.",
    created_before: "Only jobs that were submitted before this time.",
    worker: "Only jobs that this worker runs.",
    key: "Only the job with this idempotency key.",
    search: "Only jobs with this text in their payload, result or error.",
    limit: "How many items a page has at most.",
    cursor: "Continue where an earlier page ended.",
  },
);
export type ListJobsQuery = z.output<typeof listJobsQuery>;

/** The query of `GET /v1/jobs/{id}`. */
export const getJobQuery = describeFields(
  z.strictObject({
    wait_seconds: wholeNumber(0, limits.wait_seconds_max)
      .default(0)
      .describe(`an integer of seconds from 0 to ${limits.wait_seconds_max}`),
  }),
  {
    wait_seconds: "Wait up to this long for the job to finish, then return it as it is.",
  },
);

/**
 * A page of jobs, newest first. A page may be short, or even empty, and still have a `next_cursor`: each looks at a
 * bounded stretch of the history. Null marks the end.
 */
export const jobPage = describeFields(
  z.strictObject({
    items: z.array(job),
    next_cursor: z.string().nullable(),
    searched: describeFields(z.strictObject({ jobs: z.int().min(0), back_to: z.iso.datetime().nullable() }), {
      jobs: "How many jobs were looked at.",
      back_to: "How far back they were submitted. Null if that was all.",
    }).optional(),
  }),
  {
    items: "The jobs, newest first.",
    next_cursor: "The `cursor` of the next page. Null marks the end.",
    searched: "How much of the history this page covers, if it is a search or a short page.",
  },
);
export type JobPage = z.infer<typeof jobPage>;

/** A line a handler wrote with `ctx.log`, and when, by its worker's clock. */
export const logLine = describeFields(z.strictObject({ at: z.iso.datetime(), line: z.string() }), {
  at: "When the line was written, by the worker's clock.",
  line: "What the handler logged.",
});
export type LogLine = z.infer<typeof logLine>;

/** One attempt of a job. `running` is the current one, `succeeded` the last. */
export const attempt = describeFields(
  z.strictObject({
    attempt: z.int(),
    worker_id: z.string().nullable(),
    started_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
    outcome: z.enum(["succeeded", "failed", "lost", "cancelled", "running"]),
    error: z.string().nullable(),
    log: z.array(logLine),
  }),
  {
    attempt: "The number of the attempt, from 1.",
    worker_id: "The worker that ran it. Null if it is not known.",
    started_at: "When the attempt began. Null if it is not known.",
    finished_at: "When the attempt ended. Null while it runs.",
    outcome: "How the attempt ended. `lost` means that its lease expired, `running` that it has not ended.",
    error: "Why the attempt failed. Null if it did not.",
    log: "The newest 100 lines that the handler logged, oldest first. Lost and cancelled attempts have none.",
  },
);
export type Attempt = z.infer<typeof attempt>;
export const attemptList = describeFields(z.strictObject({ items: z.array(attempt) }), {
  items: "The attempts, oldest first.",
});
export type AttemptList = z.infer<typeof attemptList>;

/** Why a job is not running now, in words for a person and in codes for a program. */
export const explanation = describeFields(
  z.strictObject({
    status: z.enum(jobStatuses),
    reasons: z.array(
      describeFields(z.strictObject({ code: z.string(), detail: z.string() }), {
        code: "A stable name of the reason. Newer servers may have more.",
        detail: "The reason in a sentence.",
      }),
    ),
    trace_id: z.string().nullable(),
    trace_url: z.string().nullable(),
  }),
  {
    status: "The job's status.",
    reasons: "Why the job is not running, most important first.",
    trace_id: "The trace in which the job was submitted. Null without tracing.",
    trace_url: "Where to see that trace. Null unless `TRACE_URL_TEMPLATE` is set.",
  },
);
export type Explanation = z.infer<typeof explanation>;
