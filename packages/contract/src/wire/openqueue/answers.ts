import { z } from "zod";
import { describeFields, describeValue } from "../../checks/field-texts.ts";
import { job } from "../job.ts";
import { openQueueStatuses } from "./requests.ts";

const time = z.iso.datetime();
const count = z.int().min(0);

/** JobResponse: a job as OpenQueue shows it. Times are UTC with milliseconds; unset fields are null. */
export const openQueueJob = describeValue(
  describeFields(
    z.strictObject({
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
    }),
    {
      id: "The job's id.",
      queue_name: "The job's queue.",
      status: "The job's status. `pending` is any job that waits.",
      priority: "Jobs of a higher priority start first.",
      payload: "The data that the handler gets.",
      result: "The handler's result. Null before.",
      error_text: "The error of the last attempt that failed. Null if there is none.",
      retry_count: "How many retries the job has had.",
      max_retries: "How many retries the job may have.",
      created_at: "When the job was submitted.",
      updated_at: "When the job changed last.",
      started_at: "When the last attempt began. Null before the first.",
      finished_at: "When the job ended for good. Null before.",
    },
  ),
  "A job, as OpenQueue shows it. Times are UTC, and unset fields are null.",
);
export type OpenQueueJob = z.infer<typeof openQueueJob>;

/** The answer to `POST /jobs`: "queued", whenever it will run. */
export const openQueueSubmitted = describeFields(z.strictObject({ job_id: z.guid(), status: z.literal("queued") }), {
  job_id: "The job's id.",
  status: "Always `queued`, whenever the job will run.",
});
export type OpenQueueSubmitted = z.infer<typeof openQueueSubmitted>;

/** The answer to `POST /jobs/batch`; the ids are in the order of its jobs. */
export const openQueueSubmittedBatch = describeFields(z.strictObject({ job_ids: z.array(z.guid()), count }), {
  job_ids: "The jobs' ids, in the order of the request.",
  count: "How many jobs were submitted.",
});
export type OpenQueueSubmittedBatch = z.infer<typeof openQueueSubmittedBatch>;

/** The answer to `GET /jobs/{id}`, and to a cancel. */
export const openQueueJobStatus = describeFields(
  z.strictObject({ job_id: z.guid(), status: z.enum(openQueueStatuses) }),
  {
    job_id: "The job's id.",
    status: "The job's status. `pending` is any job that waits.",
  },
);
export type OpenQueueJobStatus = z.infer<typeof openQueueJobStatus>;

/** The answer to an ack, a nack and a heartbeat. */
export const openQueueSettled = describeFields(
  z.strictObject({
    job_id: z.guid(),
    status: z.enum(["completed", "failed_or_requeued", "lease_extended"]),
  }),
  {
    job_id: "The job's id.",
    status: "What the request did.",
  },
);
export type OpenQueueSettled = z.infer<typeof openQueueSettled>;

/** The answer to `GET /jobs`. `total` counts everything the filter matches, on every page. */
export const openQueueJobPage = describeFields(
  z.strictObject({
    items: z.array(openQueueJob),
    total: count,
    limit: count,
    offset: count,
  }),
  {
    items: "The jobs, newest first.",
    total: "How many jobs match, on all pages.",
    limit: "How many jobs a page has at most.",
    offset: "How many jobs were skipped.",
  },
);
export type OpenQueueJobPage = z.infer<typeof openQueueJobPage>;

/** The answer to a lease; null when there was no job. */
export const openQueueLease = describeFields(
  z.strictObject({ job: openQueueJob, lease_token: z.guid(), lease_expires_at: time }),
  {
    job: "The leased job.",
    lease_token: "The secret of this lease. Every later request for the job needs it.",
    lease_expires_at: "When the lease ends, unless it is extended.",
  },
).nullable();
export type OpenQueueLease = z.infer<typeof openQueueLease>;

/** The answer to `GET /dashboard/queues`. `failed` says how many of the pending ones are waiting for a retry. */
export const openQueueQueues = z.array(
  describeFields(
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
    {
      queue_name: "The queue's name.",
      pending: "Jobs that wait.",
      processing: "Jobs that are running.",
      completed: "Jobs that succeeded.",
      failed: "Jobs that wait for a retry. `pending` counts them too.",
      cancelled: "Jobs that were cancelled.",
      dead: "Jobs that failed for good.",
      total: "All jobs of the queue.",
      oldest_pending_created_at: "When the oldest waiting job was submitted. Null if none waits.",
    },
  ),
);
export type OpenQueueQueues = z.infer<typeof openQueueQueues>;

/** The answer to `POST /admin/provision`, the only one that holds the token. `created` is false when the email already had a tenant. */
export const openQueueProvisioned = describeFields(
  z.strictObject({ token: z.string(), email: z.string(), created: z.boolean() }),
  {
    token: "The token. No other response has it.",
    email: "The address that names the tenant.",
    created: "False if the address had a tenant already.",
  },
);
export type OpenQueueProvisioned = z.infer<typeof openQueueProvisioned>;

/** The body of every error: a sentence, or a list of the invalid parts of the request, as in FastAPI. */
export const openQueueError = describeFields(
  z.strictObject({
    detail: z.union([
      z.string(),
      z.array(
        describeFields(
          z.strictObject({
            loc: z.array(z.union([z.string(), z.int()])),
            msg: z.string(),
            type: z.literal("value_error"),
          }),
          {
            loc: "Where the value is: its place in the request.",
            msg: "What is wrong, and what is accepted.",
            type: "The kind of the fault.",
          },
        ),
      ),
    ]),
  }),
  {
    detail: "What is wrong: a sentence, or each part of the request that is invalid.",
  },
);
export type OpenQueueError = z.infer<typeof openQueueError>;
