import { z } from "zod";
import { anyJson, job, jobType } from "../job.ts";
import { spawnedJob } from "../submit/submission.ts";
import { anyParents } from "../flows/parents.ts";
import { limits } from "../../checks/limits.ts";
import { plainText, plainTextAccepts } from "../../checks/plain-text.ts";
import { describeFields } from "../../checks/field-texts.ts";

export const workerId = z
  .string()
  .min(1)
  .max(limits.worker_id_chars_max)
  .regex(plainText)
  .describe(`a string of 1 to ${limits.worker_id_chars_max} characters ${plainTextAccepts}`);

/** Of the jobs that a worker takes. */
const takenTypes = z
  .array(jobType)
  .min(1)
  .max(limits.lease_types_max)
  .optional()
  .describe(
    `a list of 1 to ${limits.lease_types_max} job types, of which alone jobs are leased; left out, jobs of all types are`,
  );

const leaseSeconds = z.int().min(1).max(limits.lease_seconds_max);
const leaseSecondsAccepts = `an integer of seconds from 1 to ${limits.lease_seconds_max}`;
export const leaseToken = z.guid().toLowerCase().describe("the lease_token that came with the job, a UUID");
const ownLeaseToken = z
  .guid()
  .toLowerCase()
  .optional()
  .describe(
    "a UUID made for this one request: repeat the request with the same one if no response came, and it returns the same jobs",
  );
// At most a year ahead, as for a job's first run.
const retryDelay = z
  .number()
  .min(0)
  .max(limits.delay_seconds_max)
  .optional()
  .describe(`a number of seconds from 0 to ${limits.delay_seconds_max}`);
const errorText = z.string().describe(`a string, of which ${limits.error_chars_max} characters are kept`);

/** The body of `POST /v1/queues/{queue}/lease`. */
export const leaseRequest = describeFields(
  z.strictObject({
    worker_id: workerId,
    lease_seconds: leaseSeconds.default(limits.lease_seconds_default).describe(leaseSecondsAccepts),
    max_jobs: z
      .int()
      .min(1)
      .max(limits.lease_jobs_max)
      .default(1)
      .describe(`an integer from 1 to ${limits.lease_jobs_max}`),
    wait_seconds: z
      .number()
      .min(0)
      .max(limits.wait_seconds_max)
      .default(0)
      .describe(`a number of seconds from 0 to ${limits.wait_seconds_max}; at most a third of lease_seconds is waited`),
    lease_token: ownLeaseToken,
    types: takenTypes,
  }),
  {
    worker_id: "A name for the worker. People see it as the holder of the job.",
    lease_seconds: "How long the jobs are leased for. Send heartbeats to extend it.",
    max_jobs: "How many jobs to lease at most.",
    wait_seconds: "How long to wait for a job if none is ready.",
    lease_token: "Makes the request safe to repeat after a lost response.",
    types: "Only lease jobs of these types.",
  },
);
export type LeaseRequestInput = z.input<typeof leaseRequest>;
export type LeaseRequest = z.output<typeof leaseRequest>;

/** Until when leases hold by the worker's own clock, however late the response comes. */
const holds = describeFields(
  z.strictObject({ waited_ms: z.int().min(0), remaining_ms: z.int().min(0), repeated: z.boolean() }),
  {
    waited_ms: "How long the request had waited, in milliseconds, when its lease was taken or looked up.",
    remaining_ms:
      "How long the jobs were leased for then, in milliseconds. They are held until `waited_ms` plus `remaining_ms` after the worker sent the request. 0 without jobs.",
    repeated:
      "True if an earlier request leased with the same `lease_token`. The jobs are those that are still leased under it.",
  },
).shape;

/** What was leased; empty when no job was ready in time. */
export const leaseAnswer = describeFields(
  z.strictObject({
    jobs: z.array(
      describeFields(
        z.strictObject({
          job,
          lease_token: z.uuid(),
          locked_until: z.iso.datetime(),
          steps: z.record(z.string(), anyJson),
          signals: z.record(z.string(), anyJson),
          steps_complete: z.boolean(),
          ...anyParents,
        }),
        {
          job: "The leased job.",
          lease_token: "The secret of this lease. Every later request for the job needs it.",
          locked_until: "When the lease ends, unless it is extended.",
          steps: "Results of the steps that earlier attempts finished, by name.",
          signals: "Payloads of the signals that the job was sent, by name.",
          steps_complete: "False if there are more steps or signals. `GET /v1/jobs/{id}/steps` has all.",
        },
      ),
    ),
    ...holds,
  }),
  {
    jobs: "The leased jobs. Empty if none was ready in time.",
  },
);
export type LeaseAnswer = z.infer<typeof leaseAnswer>;

/** The body of `POST /v1/jobs/{id}/ack`. The `children` are stored with it, or neither is. */
export const ackRequest = describeFields(
  z.strictObject({
    lease_token: leaseToken,
    result: anyJson.optional().describe("any JSON value"),
    children: z
      .array(spawnedJob)
      .max(limits.batch_items_max)
      .optional()
      .describe(`a list of at most ${limits.batch_items_max} jobs`),
    dependants_wait: z
      .boolean()
      .optional()
      .describe("true or false; with true, the jobs that wait for this one wait for its children too"),
  }),
  {
    lease_token: "The secret of the job's lease.",
    result: "The handler's result. It is kept with the job.",
    children: "Jobs to submit together with the result.",
    dependants_wait: "Whether jobs that depend on this job wait for its children too.",
  },
);
export type AckRequest = z.output<typeof ackRequest>;

/** The body of `POST /v1/jobs/{id}/nack`. */
export const nackRequest = describeFields(
  z.strictObject({
    lease_token: leaseToken,
    error: errorText,
    retry: z.boolean().default(true).describe("true or false; false makes the job a dead letter at once"),
    delay_seconds: retryDelay,
    error_data: anyJson
      .optional()
      .describe("any JSON value, kept as the result {error_data} of a job that becomes a dead letter by it"),
  }),
  {
    lease_token: "The secret of the job's lease.",
    error: "Why the attempt failed.",
    retry: "Whether the job may be retried.",
    delay_seconds: "How long to wait before the retry. By the job's backoff if left out.",
    error_data: "Details of the error for programs.",
  },
);
export type NackRequestInput = z.input<typeof nackRequest>;
export type NackRequest = z.output<typeof nackRequest>;

/** The body of `POST /v1/jobs/{id}/release`. */
export const releaseRequest = describeFields(
  z.strictObject({
    lease_token: leaseToken,
    later: z
      .boolean()
      .optional()
      .describe(
        "true or false; with true the job is offered again later, after 1 to 30 seconds, as for another worker",
      ),
  }),
  {
    lease_token: "The secret of the job's lease.",
    later: "Whether to wait before the job is leased again.",
  },
);

/** The body of `POST /v1/leases/release`. */
export const releaseLeaseRequest = describeFields(
  z.strictObject({
    lease_token: leaseToken.describe("the lease_token that was sent with the lease, or came with its jobs, a UUID"),
  }),
  {
    lease_token: "The lease whose jobs are released.",
  },
);
/** How many jobs went back now. */
export const releaseLeaseAnswer = describeFields(z.strictObject({ released: z.int().min(0) }), {
  released: "How many jobs were released by this request.",
});
export type ReleaseLeaseAnswer = z.infer<typeof releaseLeaseAnswer>;

/** The body of `POST /v1/jobs/{id}/heartbeat`. */
export const heartbeatRequest = describeFields(
  z.strictObject({
    lease_token: leaseToken,
    lease_seconds: leaseSeconds.default(limits.lease_seconds_default).describe(leaseSecondsAccepts),
    progress: anyJson.optional().describe("any JSON value"),
  }),
  {
    lease_token: "The secret of the job's lease.",
    lease_seconds: "How long the lease holds from now on.",
    progress: "The handler's progress. People see it while the job runs.",
  },
);
export type HeartbeatRequestInput = z.input<typeof heartbeatRequest>;
export type HeartbeatRequest = z.output<typeof heartbeatRequest>;
export const heartbeatAnswer = describeFields(z.strictObject({ locked_until: z.iso.datetime() }), {
  locked_until: "When the lease ends now.",
});
export type HeartbeatAnswer = z.infer<typeof heartbeatAnswer>;

/**
 * For how long an answer `unavailable` to a heartbeat holds the job for its holder, in milliseconds, even beyond the end of
 * the lease: the API sees to it that nobody else is given the job meanwhile. Asked again within a second, an API whose
 * deadline is 2.5 seconds at most answers sooner, as a heartbeat may wait for its turn for three of them.
 */
export const outage_hold_ms = 8_000;
