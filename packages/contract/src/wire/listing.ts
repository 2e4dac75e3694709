import { z } from "zod";
import { groupName, job, jobType, queueName, timestamp } from "./job.ts";
import { jobStatuses } from "./status.ts";
import { limits } from "../checks/limits.ts";

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
export const listJobsQuery = z.strictObject({
  queue: queueName.optional().describe(queueName.description ?? ""),
  type: jobType.optional().describe(jobType.description ?? ""),
  status: z
    .enum(jobStatuses)
    .optional()
    .describe(`one of ${jobStatuses.join(", ")}`),
  group: groupName.optional().describe(groupName.description ?? ""),
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
});
export type ListJobsQuery = z.output<typeof listJobsQuery>;

/** The query of `GET /v1/jobs/{id}`. */
export const getJobQuery = z.strictObject({
  wait_seconds: wholeNumber(0, limits.wait_seconds_max)
    .default(0)
    .describe(`an integer of seconds from 0 to ${limits.wait_seconds_max}`),
});

/**
 * A page of jobs, newest first. A page may be short, or even empty, and still have a `next_cursor`: each looks at a
 * bounded stretch of the history. Null marks the end.
 */
export const jobPage = z.strictObject({
  items: z.array(job),
  next_cursor: z.string().nullable(),
  /**
   * Of a search: how many jobs it read. Of a page that is short and has a `next_cursor`: how many it looked at. And how
   * far back it came; null when that was all of them.
   */
  searched: z.strictObject({ jobs: z.int().min(0), back_to: z.iso.datetime().nullable() }).optional(),
});
export type JobPage = z.infer<typeof jobPage>;

/** A line a handler wrote with `ctx.log`, and when, by its worker's clock. */
export const logLine = z.strictObject({ at: z.iso.datetime(), line: z.string() });
export type LogLine = z.infer<typeof logLine>;

/** One attempt of a job. `running` is the current one, `succeeded` the last. */
export const attempt = z.strictObject({
  attempt: z.int(),
  worker_id: z.string().nullable(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  outcome: z.enum(["succeeded", "failed", "lost", "cancelled", "running"]),
  error: z.string().nullable(),
  /** The newest hundred lines, oldest first. Those of a lost or cancelled attempt are lost with it. */
  log: z.array(logLine),
});
export type Attempt = z.infer<typeof attempt>;
export const attemptList = z.strictObject({ items: z.array(attempt) });
export type AttemptList = z.infer<typeof attemptList>;

/** Why a job is not running now, in words for a person and in codes for a program. */
export const explanation = z.strictObject({
  status: z.enum(jobStatuses),
  /** A code is one of `explanationCodes`; a newer server may know more of them. */
  reasons: z.array(z.strictObject({ code: z.string(), detail: z.string() })),
  /** The trace in which it was submitted, and where a person can look at it, if the operator says where. */
  trace_id: z.string().nullable(),
  trace_url: z.string().nullable(),
});
export type Explanation = z.infer<typeof explanation>;
