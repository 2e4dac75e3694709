import { z } from "zod";
import type { Json, JsonObject } from "../checks/json.ts";
import { idempotencyKey } from "../checks/idempotency-key.ts";
import { idempotencyKeyAccepts } from "../checks/idempotency-text.ts";
import { limits } from "../checks/limits.ts";
import { pathName, pathNameAccepts } from "../checks/path-name.ts";
import { plainText, plainTextAccepts } from "../checks/plain-text.ts";
import { dependsOn, jobRef, onParentFailure, refOrId } from "./flows/flow.ts";
import { jobStatuses } from "./status.ts";
import { unique } from "./submit/unique.ts";

// Each description completes the sentence "must be …": error messages and the OpenAPI document are built from them.
// Anything else in `meta` goes into the document as it is, for checks that are code, which JSON Schema cannot show.

export const jobType = z
  .string()
  .min(1)
  .max(limits.type_chars_max)
  .regex(plainText)
  .describe(`a string of 1 to ${limits.type_chars_max} characters ${plainTextAccepts}`);

export const queueName = z
  .string()
  .max(limits.queue_chars_max)
  .regex(pathName)
  .describe(`a string of 1 to ${limits.queue_chars_max} characters ${pathNameAccepts}`);

/** Jobs of one group run one at a time, in the order they were submitted. */
export const groupName = z
  .string()
  .min(1)
  .max(limits.group_chars_max)
  .regex(plainText)
  .describe(`a string of 1 to ${limits.group_chars_max} characters ${plainTextAccepts}`);

// Any UUID, not only those RFC 9562 makes: an id we never made is unknown, not malformed.
export const jobId = z.guid().toLowerCase().describe("a UUID");

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

export const backoff = z
  .strictObject({
    kind: z.enum(["exponential", "fixed"]).describe('"exponential" or "fixed"'),
    base_seconds: z
      .number()
      .min(0)
      .max(limits.backoff_seconds_max)
      .describe(`a number of seconds from 0 to ${limits.backoff_seconds_max}`),
    max_seconds: z
      .number()
      .min(0)
      .max(limits.backoff_seconds_max)
      .optional()
      .describe(`a number of seconds from 0 to ${limits.backoff_seconds_max}`),
  })
  .describe("an object {kind, base_seconds, max_seconds?}");
export type Backoff = z.infer<typeof backoff>;

/** The fields of a job, on every surface. */
export const submitFields = z.strictObject({
  type: jobType,
  payload: jsonObject.default({}),
  queue: queueName.default("default"),
  priority: z
    .int()
    .min(limits.priority_min)
    .max(limits.priority_max)
    .default(0)
    .describe(`an integer from ${limits.priority_min} to ${limits.priority_max}, higher first`),
  max_attempts: z
    .int()
    .min(1)
    .max(limits.attempts_max)
    .default(5)
    .describe(`an integer from 1 to ${limits.attempts_max}`),
  run_at: timestamp.optional().describe("an RFC 3339 time with an offset, such as 2030-01-31T12:00:00Z"),
  delay_seconds: z
    .number()
    .min(0)
    .max(limits.delay_seconds_max)
    .optional()
    .describe(`a number of seconds from 0 to ${limits.delay_seconds_max}`),
  timeout_seconds: z
    .int()
    .min(1)
    .max(limits.timeout_seconds_max)
    .optional()
    .describe(`an integer of seconds from 1 to ${limits.timeout_seconds_max}`),
  group: groupName.optional().describe(groupName.description ?? ""),
  backoff: backoff.optional().describe("an object {kind, base_seconds, max_seconds?}"),
  unique: unique.optional().describe("an object {key?, scope?, window_seconds?, on_conflict?}"),
});

type Start = { run_at?: string | undefined; delay_seconds?: number | undefined };
const oneStart = (job: Start) => job.run_at === undefined || job.delay_seconds === undefined;
const oneStartFault = { path: ["delay_seconds"], error: "must not be given together with run_at" };
const oneStartSchema = { dependentSchemas: { run_at: { properties: { delay_seconds: false } } } };

/** A job that waits for no other. */
export const submitJob = submitFields.refine(oneStart, oneStartFault).meta(oneStartSchema);
export type SubmitJobInput = z.input<typeof submitJob>;
export type SubmitJob = z.output<typeof submitJob>;

const policy = onParentFailure.optional().describe(onParentFailure.description ?? "");
type Waiting = { depends_on?: readonly string[] | undefined; on_parent_failure?: string | undefined };
const policyForParents = (job: Waiting) => job.on_parent_failure === undefined || job.depends_on !== undefined;
const policyFault = { path: ["on_parent_failure"], error: "must not be given without depends_on" };
const waitingSchema = { ...oneStartSchema, dependentRequired: { on_parent_failure: ["depends_on"] } };

/** The body of `POST /v1/jobs`: it may wait for jobs that exist. */
export const submitSingle = submitFields
  .extend({ depends_on: dependsOn(jobId, "ids of jobs").optional(), on_parent_failure: policy })
  .refine(oneStart, oneStartFault)
  .refine(policyForParents, policyFault)
  .meta(waitingSchema);
export type SubmitSingleInput = z.input<typeof submitSingle>;

/** A line of `POST /v1/jobs/stream`: a job that waits for no other, with its key. */
export const submitLine = submitFields
  .extend({ idempotency_key: idempotencyKey.describe(idempotencyKeyAccepts) })
  .refine(oneStart, oneStartFault)
  .meta(oneStartSchema);
export type SubmitLineInput = z.input<typeof submitLine>;

/** What a schedule submits: a job as `POST /v1/jobs` takes it, except for when it runs. */
export const jobTemplate = submitFields
  .omit({ run_at: true, delay_seconds: true })
  .describe("a job as POST /v1/jobs takes it, without run_at and delay_seconds");
export type JobTemplateInput = z.input<typeof jobTemplate>;
export type JobTemplate = z.output<typeof jobTemplate>;

const memberFields = submitFields.extend({
  ref: jobRef.optional().describe(jobRef.description ?? ""),
  depends_on: dependsOn(refOrId, "refs of jobs in this batch, or ids of jobs that exist").optional(),
  on_parent_failure: policy,
});

/** One of the jobs that a job adds when it succeeds. They may wait for one another, and for jobs that exist. */
export const spawnedJob = memberFields
  .refine(oneStart, oneStartFault)
  .refine(policyForParents, policyFault)
  .meta(waitingSchema);
export type SpawnedJobInput = z.input<typeof spawnedJob>;
export type SpawnedJob = z.output<typeof spawnedJob>;

/**
 * The body of `POST /v1/jobs/batch`, stored whole or not at all. Each job has a key, or a header the one for all. Jobs
 * may wait for others of the batch or for jobs that exist; `then` waits for all of them, however they end.
 */
export const submitBatch = z.strictObject({
  jobs: z
    .array(
      memberFields
        .extend({ idempotency_key: idempotencyKey.optional().describe(idempotencyKeyAccepts) })
        .refine(oneStart, oneStartFault)
        .refine(policyForParents, policyFault)
        .meta(waitingSchema),
    )
    .min(1)
    .max(limits.batch_items_max)
    .describe(`a list of 1 to ${limits.batch_items_max} jobs`),
  then: submitJob.optional().describe("a job as POST /v1/jobs takes it, without depends_on and on_parent_failure"),
});
export type SubmitBatchInput = z.input<typeof submitBatch>;
export type SubmitBatch = z.output<typeof submitBatch>;

const nullableTime = z.iso.datetime().nullable();

/** A job as every surface shows it. Times are UTC with milliseconds; unset fields are null. */
export const job = z.strictObject({
  id: z.uuid(),
  type: z.string(),
  queue: z.string(),
  status: z.enum(jobStatuses),
  priority: z.int(),
  attempts: z.int(),
  max_attempts: z.int(),
  payload: jsonObject,
  /** What the handler returned. For a dead job, `{error_data}` if its last error came with data. */
  result: anyJson.nullable(),
  last_error: z.string().nullable(),
  run_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  started_at: nullableTime,
  finished_at: nullableTime,
  group: z.string().nullable(),
  worker_id: z.string().nullable(),
  locked_until: nullableTime,
  progress: anyJson.nullable(),
  timeout_seconds: z.int().nullable(),
  dead_reason: z.string().nullable(),
  /** While it is parked: the signal it waits for, until `run_at`. */
  waits_for: z.string().nullable(),
  /** Where it was submitted, in W3C Trace Context: for the worker that runs it. */
  traceparent: z.string().nullable(),
  tracestate: z.string().nullable(),
  /** The flow it was submitted in: jobs that wait for one another. */
  flow_id: z.uuid().nullable(),
});
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

const submittedJob = z.strictObject({ id: z.uuid(), status: z.enum(jobStatuses), created: z.boolean() });

/**
 * The answer to a batch, in the same order. `created` is false where the key was already used for the same job, or a
 * job with the same unique key exists. A batch in which no job waits for another is no flow.
 */
export const submittedBatch = z.strictObject({
  jobs: z.array(submittedJob),
  flow_id: z.uuid().nullable(),
  then: submittedJob.optional(),
});
export type SubmittedBatch = z.infer<typeof submittedBatch>;
