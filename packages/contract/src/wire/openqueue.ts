import { z } from "zod";
import { ackRequest, heartbeatRequest, leaseRequest, nackRequest } from "./work/lease.ts";
import { job, jsonObject, queueName, submitFields } from "./job.ts";
import { limits } from "../checks/limits.ts";
import { listJobsQuery, wholeNumber } from "./listing.ts";

/** The words OpenQueue has for a job's status. */
export const openQueueStatuses = ["pending", "processing", "completed", "cancelled", "dead"] as const;
export type OpenQueueStatus = (typeof openQueueStatuses)[number];

const { queue, priority, run_at } = submitFields.shape;

/** The body of `POST /jobs`. */
export const openQueueSubmit = z.strictObject({
  queue_name: queue,
  payload: jsonObject,
  priority,
  max_retries: z
    .int()
    .min(0)
    .max(limits.attempts_max - 1)
    .default(3)
    .describe(`an integer from 0 to ${limits.attempts_max - 1}`),
  // Its clients are written in languages that send omitted fields as null.
  run_at: run_at
    .unwrap()
    .nullable()
    .optional()
    .describe(run_at.description ?? ""),
});

export type OpenQueueSubmitInput = z.input<typeof openQueueSubmit>;
export type OpenQueueSubmit = z.output<typeof openQueueSubmit>;

/** The body of `POST /jobs/batch`, stored whole or not at all. */
export const openQueueSubmitBatch = z.strictObject({
  jobs: z
    .array(openQueueSubmit)
    .min(1)
    .max(limits.batch_items_max)
    .describe(`a list of 1 to ${limits.batch_items_max} jobs`),
});
export type OpenQueueSubmitBatchInput = z.input<typeof openQueueSubmitBatch>;

/** The query of `GET /jobs`. */
export const openQueueListQuery = z.strictObject({
  queue_name: queueName.optional().describe(queueName.description ?? ""),
  status: z
    .enum(openQueueStatuses)
    .optional()
    .describe(`one of ${openQueueStatuses.join(", ")}`),
  limit: listJobsQuery.shape.limit,
  offset: wholeNumber(0, limits.list_offset_max).default(0).describe(`an integer from 0 to ${limits.list_offset_max}`),
});

/** The body of `POST /queues/{queue}/lease`. */
export const openQueueLeaseRequest = leaseRequest.pick({ worker_id: true, lease_seconds: true });

// Any text: one that cannot be a token is a lease not held, which is 409, not 422.
const leaseToken = z.string().describe("the lease_token that came with the job, a string");

/** The body of `POST /jobs/{id}/ack`. */
export const openQueueAck = ackRequest.extend({ lease_token: leaseToken });

/** The body of `POST /jobs/{id}/nack`. */
export const openQueueNack = nackRequest.omit({ delay_seconds: true }).extend({ lease_token: leaseToken });

/** The body of `POST /jobs/{id}/heartbeat`. */
export const openQueueHeartbeat = heartbeatRequest.omit({ progress: true }).extend({ lease_token: leaseToken });

const time = z.iso.datetime();
const count = z.int().min(0);

/** JobResponse: a job as OpenQueue shows it. Times are UTC with milliseconds; unset fields are null. */
export const openQueueJob = z.strictObject({
  id: z.guid(),
  queue_name: z.string(),
  status: z.enum(openQueueStatuses),
  priority: z.int(),
  payload: job.shape.payload,
  result: job.shape.result,
  error_text: z.string().nullable(),
  retry_count: count,
  max_retries: count,
  created_at: time,
  updated_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
});
export type OpenQueueJob = z.infer<typeof openQueueJob>;

/** The answer to `POST /jobs`: "queued", whenever it will run. */
export const openQueueSubmitted = z.strictObject({ job_id: z.guid(), status: z.literal("queued") });
export type OpenQueueSubmitted = z.infer<typeof openQueueSubmitted>;

/** The answer to `POST /jobs/batch`; the ids are in the order of its jobs. */
export const openQueueSubmittedBatch = z.strictObject({ job_ids: z.array(z.guid()), count });
export type OpenQueueSubmittedBatch = z.infer<typeof openQueueSubmittedBatch>;

/** The answer to `GET /jobs/{id}`, and to a cancel. */
export const openQueueJobStatus = z.strictObject({ job_id: z.guid(), status: z.enum(openQueueStatuses) });
export type OpenQueueJobStatus = z.infer<typeof openQueueJobStatus>;

/** The answer to an ack, a nack and a heartbeat. */
export const openQueueSettled = z.strictObject({
  job_id: z.guid(),
  status: z.enum(["completed", "failed_or_requeued", "lease_extended"]),
});
export type OpenQueueSettled = z.infer<typeof openQueueSettled>;

/** The answer to `GET /jobs`. `total` counts everything the filter matches, on every page. */
export const openQueueJobPage = z.strictObject({
  items: z.array(openQueueJob),
  total: count,
  limit: count,
  offset: count,
});
export type OpenQueueJobPage = z.infer<typeof openQueueJobPage>;

/** The answer to a lease; null when there was no job. */
export const openQueueLease = z
  .strictObject({ job: openQueueJob, lease_token: z.guid(), lease_expires_at: time })
  .nullable();
export type OpenQueueLease = z.infer<typeof openQueueLease>;

/** The answer to `GET /dashboard/queues`. `failed` says how many of the pending ones are waiting for a retry. */
export const openQueueQueues = z.array(
  z.strictObject({
    queue_name: z.string(),
    pending: count,
    processing: count,
    completed: count,
    failed: count,
    cancelled: count,
    dead: count,
    total: count,
    oldest_pending_created_at: time.nullable(),
  }),
);
export type OpenQueueQueues = z.infer<typeof openQueueQueues>;

/** The body of `POST /admin/provision`. */
export const openQueueProvision = z.strictObject({
  email: z.email().max(254).describe("an email address of at most 254 characters"),
});

/** The answer to it, the only one that holds the token. `created` is false when the email already had a tenant. */
export const openQueueProvisioned = z.strictObject({ token: z.string(), email: z.string(), created: z.boolean() });
export type OpenQueueProvisioned = z.infer<typeof openQueueProvisioned>;

/** The body of every error: a sentence, or a list of the invalid parts of the request, as in FastAPI. */
export const openQueueError = z.strictObject({
  detail: z.union([
    z.string(),
    z.array(
      z.strictObject({
        loc: z.array(z.union([z.string(), z.int()])),
        msg: z.string(),
        type: z.literal("value_error"),
      }),
    ),
  ]),
});
export type OpenQueueError = z.infer<typeof openQueueError>;
