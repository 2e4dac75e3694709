import { z } from "zod";
import { describeFields } from "../../checks/field-texts.ts";
import { idempotencyKey } from "../../checks/idempotency-key.ts";
import { idempotencyKeyAccepts } from "../../checks/idempotency-text.ts";
import { limits } from "../../checks/limits.ts";
import { dependsOn, jobRef, onParentFailure, refOrId } from "../flows/flow.ts";
import { groupName, jobId, jobType, jsonObject, queueName, tags, timestamp } from "../job.ts";
import { unique } from "./unique.ts";

export const backoff = describeFields(
  z.strictObject({
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
  }),
  {
    kind: "`exponential` doubles the delay after each failure, `fixed` keeps it.",
    base_seconds: "The delay of a fixed backoff. An exponential one begins at twice this, and doubles.",
    max_seconds: "The longest delay. The server's setting by default.",
  },
).describe("an object {kind, base_seconds, max_seconds?}");
export type Backoff = z.infer<typeof backoff>;

const kept = z.int().min(1).max(limits.kept_seconds_max);
const keptAccepts = `an integer of seconds from 1 to ${limits.kept_seconds_max}`;

/** The fields of a job, on every surface. */
export const submitFields = describeFields(
  z.strictObject({
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
      .optional()
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
    expires_in: z
      .int()
      .min(1)
      .max(limits.expires_in_seconds_max)
      .optional()
      .describe(`an integer of seconds from 1 to ${limits.expires_in_seconds_max}`),
    group: groupName.optional().describe(groupName.description ?? ""),
    tags: tags.optional().describe(tags.description ?? ""),
    backoff: backoff.optional().describe("an object {kind, base_seconds, max_seconds?}"),
    retention_seconds: kept.optional().describe(keptAccepts),
    result_ttl_seconds: kept.optional().describe(keptAccepts),
    unique: unique.optional().describe("an object {key?, scope?, window_seconds?, on_conflict?}"),
  }),
  {
    type: "The kind of the job. It decides which handler runs it.",
    payload: "The data that the handler gets.",
    queue: "The queue that the job waits in.",
    priority: "Which jobs of the queue start first.",
    max_attempts:
      "How many times the job may run before it becomes a dead letter. The queue's default, or 5, by default.",
    run_at: "Run the job at this time, or as soon as possible if it is past.",
    delay_seconds: "Run the job this many seconds from now.",
    timeout_seconds:
      "Abort an attempt after this long. It counts as failed. The queue's default, or the handler's own timeout, by default.",
    expires_in: "Cancel the job if no attempt has begun this many seconds after its submission.",
    group: "Jobs with the same group in a queue run one at a time, in order.",
    tags: "Words by which lists and bulk operations find the job.",
    backoff: "How long to wait before each retry. The queue's default, or the server's setting, by default.",
    retention_seconds:
      "How long the job is kept after it has finished. The queue's default, or the server's setting, by default.",
    result_ttl_seconds:
      "How long the job's result is kept after it has succeeded. The queue's default, or the server's setting, by default.",
    unique: "Allow only one job with the same key in the queue.",
  },
);

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
export const submitSingle = describeFields(
  submitFields.extend({ depends_on: dependsOn(jobId, "ids of jobs").optional(), on_parent_failure: policy }),
  {
    depends_on: "The jobs that must finish before this job runs.",
    on_parent_failure:
      "What to do if one of those jobs is dead or cancelled: cancel this job, wait until it succeeds after a retry, or run anyway. `cancel` by default.",
  },
)
  .refine(oneStart, oneStartFault)
  .refine(policyForParents, policyFault)
  .meta(waitingSchema);
export type SubmitSingleInput = z.input<typeof submitSingle>;

/** A line of `POST /v1/jobs/stream`: a job that waits for no other, with its key. */
export const submitLine = describeFields(
  submitFields.extend({ idempotency_key: idempotencyKey.describe(idempotencyKeyAccepts) }),
  {
    idempotency_key: "Identifies the line's job. A line with the same key returns the job that exists.",
  },
)
  .refine(oneStart, oneStartFault)
  .meta(oneStartSchema);
export type SubmitLineInput = z.input<typeof submitLine>;

/** What a schedule submits: a job as `POST /v1/jobs` takes it, except for when it runs. */
export const jobTemplate = submitFields
  .omit({ run_at: true, delay_seconds: true })
  .describe("a job as POST /v1/jobs takes it, without run_at and delay_seconds");
export type JobTemplateInput = z.input<typeof jobTemplate>;
export type JobTemplate = z.output<typeof jobTemplate>;

const memberFields = describeFields(
  submitFields.extend({
    ref: jobRef.optional().describe(jobRef.description ?? ""),
    depends_on: dependsOn(refOrId, "refs of jobs in this batch, or ids of jobs that exist").optional(),
    on_parent_failure: policy,
  }),
  {
    ref: "A name by which other jobs of this request can depend on this job.",
    depends_on: "The jobs that must finish before this job runs.",
    on_parent_failure:
      "What to do if one of those jobs is dead or cancelled: cancel this job, wait until it succeeds after a retry, or run anyway. `cancel` by default.",
  },
);

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
export const submitBatch = describeFields(
  z.strictObject({
    jobs: z
      .array(
        describeFields(
          memberFields.extend({ idempotency_key: idempotencyKey.optional().describe(idempotencyKeyAccepts) }),
          {
            idempotency_key:
              "Identifies the job. Submitting the same key again returns the job that exists. Required without the header `Idempotency-Key`.",
          },
        )
          .refine(oneStart, oneStartFault)
          .refine(policyForParents, policyFault)
          .meta(waitingSchema),
      )
      .min(1)
      .max(limits.batch_items_max)
      .describe(`a list of 1 to ${limits.batch_items_max} jobs`),
    then: submitJob.optional().describe("a job as POST /v1/jobs takes it, without depends_on and on_parent_failure"),
  }),
  {
    jobs: "The jobs to submit. Their order is the order within their groups.",
    then: "A job that runs after all the others have finished, however they ended.",
  },
);
export type SubmitBatchInput = z.input<typeof submitBatch>;
export type SubmitBatch = z.output<typeof submitBatch>;
