import { z } from "zod";
import type { Json, JsonObject } from "../checks/json.ts";
import { limits } from "../checks/limits.ts";
import { pathName, pathNameAccepts } from "../checks/path-name.ts";
import { plainText, plainTextAccepts } from "../checks/plain-text.ts";
import { jobStatuses } from "./status.ts";
import { describeFields, describeValue } from "../checks/field-texts.ts";

// Each `describe` completes the sentence "must be …" of an error; `describeFields` says what a field does. Anything else in `meta` goes into the document as it is, for checks that are code, which JSON Schema cannot show.

export const jobType = z
  .string()
  .min(1)
  .max(limits.type_chars_max)
  .regex(plainText)
  .describe(`a string of 1 to ${limits.type_chars_max} characters ${plainTextAccepts}`);

export const queueName = describeValue(
  z
    .string()
    .max(limits.queue_chars_max)
    .regex(pathName)
    .describe(`a string of 1 to ${limits.queue_chars_max} characters ${pathNameAccepts}`),
  "The queue's name.",
);

/** Jobs of one group run one at a time, in the order they were submitted. */
export const groupName = z
  .string()
  .min(1)
  .max(limits.group_chars_max)
  .regex(plainText)
  .describe(`a string of 1 to ${limits.group_chars_max} characters ${plainTextAccepts}`);

/** One of a job's tags. Lists and bulk operations choose jobs by it. */
export const tag = z
  .string()
  .regex(new RegExp(`^[A-Za-z0-9._:-]{1,${limits.tag_chars_max}}$`))
  .describe(`a string of 1 to ${limits.tag_chars_max} characters out of A-Z a-z 0-9 . _ : -`);
export const tags = z
  .array(tag)
  .min(1)
  .max(limits.tags_max)
  .refine((given) => new Set(given).size === given.length)
  .meta({
    description: `a list of 1 to ${limits.tags_max} different strings of 1 to ${limits.tag_chars_max} characters out of A-Z a-z 0-9 . _ : -`,
    uniqueItems: true,
  });

// Any UUID, not only those RFC 9562 makes: an id we never made is unknown, not malformed.
export const jobId = describeValue(z.guid().toLowerCase().describe("a UUID"), "The job's id.");

export const jsonObject = z
  .custom<JsonObject>((value) => typeof value === "object" && value !== null && !Array.isArray(value))
  .meta({ description: "a JSON object", type: "object" });

export const anyJson = z.custom<Json>((value) => value !== undefined).describe("any JSON value");

/**
 * A time with any offset, as UTC with milliseconds: one instant has one text, and PostgreSQL, which accepts fewer
 * offsets and years than RFC 3339, never sees another.
 */
export const timestamp = z.iso
  .datetime({ offset: true })
  .refine((text) => utc(text) !== undefined)
  .overwrite((text) => utc(text) ?? text);

function utc(text: string): string | undefined {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? time.toISOString() : undefined;
}

const nullableTime = z.iso.datetime().nullable();

/** A job as every surface shows it. Times are UTC with milliseconds; unset fields are null. */
export const job = describeValue(
  describeFields(
    z.strictObject({
      id: z.uuid(),
      type: z.string(),
      queue: z.string(),
      status: z.enum(jobStatuses),
      priority: z.int(),
      attempts: z.int(),
      max_attempts: z.int(),
      payload: jsonObject,
      result: anyJson.nullable(),
      last_error: z.string().nullable(),
      run_at: z.iso.datetime(),
      created_at: z.iso.datetime(),
      updated_at: z.iso.datetime(),
      started_at: nullableTime,
      finished_at: nullableTime,
      expires_at: nullableTime,
      group: z.string().nullable(),
      tags: z.array(z.string()).nullable(),
      worker_id: z.string().nullable(),
      locked_until: nullableTime,
      progress: anyJson.nullable(),
      timeout_seconds: z.int().nullable(),
      retention_seconds: z.int().nullable(),
      result_ttl_seconds: z.int().nullable(),
      dead_reason: z.string().nullable(),
      waits_for: z.string().nullable(),
      traceparent: z.string().nullable(),
      tracestate: z.string().nullable(),
      flow_id: z.uuid().nullable(),
    }),
    {
      id: "The job's id.",
      type: "The kind of the job. It decides which handler runs it.",
      queue: "The queue that the job is in.",
      status:
        "`scheduled` waits for its time. `blocked` waits for its group or other jobs, or was submitted in a transaction and is not queued yet. `queued` is ready. `running` is leased by a worker. `failed` will be retried. `succeeded`, `dead` and `cancelled` are final.",
      priority: "Jobs of a higher priority start first.",
      attempts: "How many attempts were counted so far, with the current one.",
      max_attempts: "How many attempts the job may have before it becomes a dead letter.",
      payload: "The data that the handler gets.",
      result: "The handler's result. For a dead job, `{error_data}` if its last error came with data. Null otherwise.",
      last_error: "The error of the last attempt that failed, or why the job was cancelled. Null if there is none.",
      run_at: "When the job may run, or could have run first. A parked job waits for its signal until then.",
      created_at: "When the job was submitted.",
      updated_at: "When the job changed last.",
      started_at: "When the last attempt began. Null before the first.",
      finished_at: "When the job ended for good. Null before.",
      expires_at:
        "When the job is cancelled if no attempt has begun. Null without `expires_in`, and once an attempt has counted.",
      group: "The group that the job is in. Null if it is in none.",
      tags: "The job's tags. Null if it has none.",
      worker_id: "The worker that runs the job, or ran it last. Null if none did.",
      locked_until: "When the worker's lease ends. Null unless the job is running.",
      progress: "The progress that the handler reported last. Null if it reported none.",
      timeout_seconds: "How long an attempt may take. Null if the handler's own timeout applies.",
      retention_seconds: "How long the job is kept after it has finished. Null if the server's setting applies.",
      result_ttl_seconds:
        "How long the result is kept after the job has succeeded. Null if the server's setting applies.",
      dead_reason:
        "Why the job is dead: `attempts_exhausted`, `not_retryable` or `lease_lost`. Null unless it is dead.",
      waits_for: "The signal that a parked job waits for. Null unless it is parked.",
      traceparent: "The trace context (W3C) in which the job was submitted. Null without tracing.",
      tracestate: "The vendors' part of that trace context. Null without tracing.",
      flow_id: "The flow that the job was submitted in. Null if no job of its request depends on another one.",
    },
  ),
  "A job. Times are UTC, and unset fields are null.",
);
export type Job = z.infer<typeof job>;

/** What a token without the scope `read` learns of a job that it submitted or changed. */
export const jobReceipt = job.pick({
  id: true,
  status: true,
  run_at: true,
  created_at: true,
  updated_at: true,
  started_at: true,
  finished_at: true,
});

/** The answer to an operation on a job: the job for a token with `read`, its receipt for any other. */
export const changedJob = z
  .union([job, jobReceipt])
  .describe("the job; for a token without `read` its id, status and times");
export type ChangedJob = z.infer<typeof jobReceipt> & Partial<Job>;
export const isWholeJob = (changed: ChangedJob): changed is Job => changed.type !== undefined;

const submittedJob = describeFields(
  z.strictObject({ id: z.uuid(), status: z.enum(jobStatuses), created: z.boolean() }),
  {
    id: "The job's id.",
    status: "The job's status now.",
    created: "False if the job existed already, by its idempotency key or its unique key.",
  },
);

/**
 * The answer to a batch, in the same order. `created` is false where the key was already used for the same job, or a
 * job with the same unique key exists. A batch in which no job waits for another is no flow.
 */
export const submittedBatch = describeFields(
  z.strictObject({
    jobs: z.array(submittedJob),
    flow_id: z.uuid().nullable(),
    then: submittedJob.optional(),
  }),
  {
    jobs: "One item for each job, in the order of the request.",
    flow_id: "The flow of the jobs. Null if no job waits for another one.",
    then: "The job of `then`, if there was one.",
  },
);
export type SubmittedBatch = z.infer<typeof submittedBatch>;
