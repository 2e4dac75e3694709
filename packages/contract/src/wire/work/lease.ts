import { z } from "zod";
import { anyJson, job, jobId, jobType, spawnedJob } from "../job.ts";
import { anyParents } from "../flows/parents.ts";
import { limits } from "../../checks/limits.ts";
import { plainText, plainTextAccepts } from "../../checks/plain-text.ts";

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
export const leaseRequest = z.strictObject({
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
});
export type LeaseRequestInput = z.input<typeof leaseRequest>;
export type LeaseRequest = z.output<typeof leaseRequest>;

/** Until when leases hold by the worker's own clock, however late the response comes. */
const holds = {
  waited_ms: z
    .int()
    .min(0)
    .describe("how long the request had waited, in milliseconds, when its lease was taken or looked up"),
  remaining_ms: z
    .int()
    .min(0)
    .describe(
      "how long the jobs were leased for then, in milliseconds; 0 without jobs. They are held until waited_ms plus " +
        "remaining_ms after the worker sent the request",
    ),
  repeated: z
    .boolean()
    .describe("true if an earlier request leased with the same lease_token: jobs are those still leased under it"),
};

/** What was leased; empty when no job was ready in time. */
export const leaseAnswer = z.strictObject({
  jobs: z.array(
    z.strictObject({
      job,
      lease_token: z.uuid(),
      locked_until: z.iso.datetime(),
      /** Results of steps that earlier attempts have done, by their names. */
      steps: z.record(z.string(), anyJson),
      /** Payloads of the signals it was sent, by their names. */
      signals: z.record(z.string(), anyJson),
      /** False when there are more than come with a lease. */
      steps_complete: z.boolean(),
      ...anyParents,
    }),
  ),
  ...holds,
});
export type LeaseAnswer = z.infer<typeof leaseAnswer>;

const ackFields = z.strictObject({
  lease_token: leaseToken,
  result: anyJson.optional().describe("any JSON value"),
});

/** The body of `POST /v1/jobs/{id}/ack`. The `children` are stored with it, or neither is. */
export const ackRequest = ackFields.extend({
  children: z
    .array(spawnedJob)
    .max(limits.batch_items_max)
    .optional()
    .describe(`a list of at most ${limits.batch_items_max} jobs`),
  dependants_wait: z
    .boolean()
    .optional()
    .describe("true or false; with true, the jobs that wait for this one wait for its children too"),
});
export type AckRequest = z.output<typeof ackRequest>;

/** The body of `POST /v1/jobs/{id}/nack`. */
export const nackRequest = z.strictObject({
  lease_token: leaseToken,
  error: errorText,
  retry: z.boolean().default(true).describe("true or false; false makes the job a dead letter at once"),
  delay_seconds: retryDelay,
  error_data: anyJson
    .optional()
    .describe("any JSON value, kept as the result {error_data} of a job that becomes a dead letter by it"),
});
export type NackRequestInput = z.input<typeof nackRequest>;
export type NackRequest = z.output<typeof nackRequest>;

/** The body of `POST /v1/jobs/{id}/release`. */
export const releaseRequest = z.strictObject({
  lease_token: leaseToken,
  later: z
    .boolean()
    .optional()
    .describe("true or false; with true the job is offered again later, after 1 to 30 seconds, as for another worker"),
});

/** The body of `POST /v1/leases/release`. */
export const releaseLeaseRequest = z.strictObject({
  lease_token: leaseToken.describe("the lease_token that was sent with the lease, or came with its jobs, a UUID"),
});
/** How many jobs went back now. */
export const releaseLeaseAnswer = z.strictObject({ released: z.int().min(0) });
export type ReleaseLeaseAnswer = z.infer<typeof releaseLeaseAnswer>;

/** The body of `POST /v1/jobs/{id}/heartbeat`. */
export const heartbeatRequest = z.strictObject({
  lease_token: leaseToken,
  lease_seconds: leaseSeconds.default(limits.lease_seconds_default).describe(leaseSecondsAccepts),
  progress: anyJson.optional().describe("any JSON value"),
});
export type HeartbeatRequestInput = z.input<typeof heartbeatRequest>;
export type HeartbeatRequest = z.output<typeof heartbeatRequest>;
export const heartbeatAnswer = z.strictObject({ locked_until: z.iso.datetime() });
export type HeartbeatAnswer = z.infer<typeof heartbeatAnswer>;

/** The body of `POST /v1/leases/settle`: acks, nacks and releases of many jobs at once, of any queues. */
export const settleRequest = z
  .strictObject({
    acks: z
      .array(ackFields.extend({ id: jobId }))
      .max(limits.batch_items_max)
      .default([])
      .describe(`a list of at most ${limits.batch_items_max} acks`),
    nacks: z
      .array(nackRequest.extend({ id: jobId }))
      .max(limits.batch_items_max)
      .default([])
      .describe(`a list of at most ${limits.batch_items_max} nacks`),
    releases: z
      .array(releaseRequest.extend({ id: jobId }))
      .max(limits.batch_items_max)
      .optional()
      .describe(`a list of at most ${limits.batch_items_max} releases`),
    /** Of each group whose job was acked, the next job is leased in the same move. */
    next: z
      .strictObject({
        worker_id: workerId,
        lease_seconds: leaseSeconds.default(limits.lease_seconds_default).describe(leaseSecondsAccepts),
        lease_token: ownLeaseToken,
        types: takenTypes,
      })
      .optional()
      .describe(
        "the worker that takes the next job of each group: an object with worker_id, and perhaps lease_seconds, lease_token and types",
      ),
  })
  .refine(({ acks, nacks, releases = [] }) => acks.length + nacks.length + releases.length <= limits.batch_items_max, {
    error: `must not have more than ${limits.batch_items_max} acks, nacks and releases together`,
  });
export type SettleRequestInput = z.input<typeof settleRequest>;
export type SettleRequest = z.output<typeof settleRequest>;

/** `lease_lost` and `not_found` changed nothing; the others say the job's new status. */
export const settleOutcomes = [
  "succeeded",
  "failed",
  "dead",
  "queued",
  "scheduled",
  "lease_lost",
  "not_found",
] as const;
const settled = z.array(z.strictObject({ id: jobId, outcome: z.enum(settleOutcomes) }));

/** One outcome for each ack, nack and release, in order; and what was leased, and for how long, if it was asked for. */
export const settleAnswer = z.strictObject({
  acks: settled,
  nacks: settled,
  releases: settled.optional(),
  next: leaseAnswer.shape.jobs.optional(),
  waited_ms: holds.waited_ms.optional(),
  remaining_ms: holds.remaining_ms.optional(),
  repeated: holds.repeated.optional(),
});
export type SettleAnswer = z.infer<typeof settleAnswer>;

/**
 * For how long an answer `unavailable` to a heartbeat holds the job for its holder, in milliseconds, even beyond the end of
 * the lease: the API sees to it that nobody else is given the job meanwhile. Asked again within a second, an API whose
 * deadline is 2.5 seconds at most answers sooner, as a heartbeat may wait for its turn for three of them.
 */
export const outage_hold_ms = 8_000;
