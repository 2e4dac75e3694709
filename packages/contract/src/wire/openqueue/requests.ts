import { z } from "zod";
import { ackRequest, heartbeatRequest, leaseRequest, nackRequest } from "../work/lease.ts";
import { jsonObject, queueName } from "../job.ts";
import { submitFields } from "../submit/submission.ts";
import { limits } from "../../checks/limits.ts";
import { listJobsQuery, wholeNumber } from "../listing.ts";
import { describeFields } from "../../checks/field-texts.ts";

/** The words OpenQueue has for a job's status. */
export const openQueueStatuses = ["pending", "processing", "completed", "cancelled", "dead"] as const;
export type OpenQueueStatus = (typeof openQueueStatuses)[number];

const { queue, priority, run_at } = submitFields.shape;

/** The body of `POST /jobs`. */
export const openQueueSubmit = describeFields(
  z.strictObject({
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
  }),
  {
    queue_name: "The queue that the job waits in.",
    payload: "The data that the handler gets.",
    max_retries: "How many times a failed job is retried.",
    run_at: "Run the job at this time. Now by default.",
  },
);

export type OpenQueueSubmitInput = z.input<typeof openQueueSubmit>;
export type OpenQueueSubmit = z.output<typeof openQueueSubmit>;

/** The body of `POST /jobs/batch`, stored whole or not at all. */
export const openQueueSubmitBatch = describeFields(
  z.strictObject({
    jobs: z
      .array(openQueueSubmit)
      .min(1)
      .max(limits.batch_items_max)
      .describe(`a list of 1 to ${limits.batch_items_max} jobs`),
  }),
  {
    jobs: "The jobs to submit.",
  },
);
export type OpenQueueSubmitBatchInput = z.input<typeof openQueueSubmitBatch>;

/** The query of `GET /jobs`. */
export const openQueueListQuery = describeFields(
  z.strictObject({
    queue_name: queueName.optional().describe(queueName.description ?? ""),
    status: z
      .enum(openQueueStatuses)
      .optional()
      .describe(`one of ${openQueueStatuses.join(", ")}`),
    limit: listJobsQuery.shape.limit,
    offset: wholeNumber(0, limits.list_offset_max)
      .default(0)
      .describe(`an integer from 0 to ${limits.list_offset_max}`),
  }),
  {
    queue_name: "Only jobs of this queue.",
    status: "Only jobs in this status.",
    offset: "How many jobs to skip.",
  },
);

/** The body of `POST /queues/{queue}/lease`. */
export const openQueueLeaseRequest = leaseRequest.pick({ worker_id: true, lease_seconds: true });

// Any text: one that cannot be a token is a lease not held, which is 409, not 422.
const leaseToken = z.string().describe("the lease_token that came with the job, a string");

/** The body of `POST /jobs/{id}/ack`. */
export const openQueueAck = describeFields(ackRequest.extend({ lease_token: leaseToken }), {
  lease_token: "The secret of the job's lease.",
});

/** The body of `POST /jobs/{id}/nack`. */
export const openQueueNack = describeFields(
  nackRequest.omit({ delay_seconds: true }).extend({ lease_token: leaseToken }),
  {
    lease_token: "The secret of the job's lease.",
  },
);

/** The body of `POST /jobs/{id}/heartbeat`. */
export const openQueueHeartbeat = describeFields(
  heartbeatRequest.omit({ progress: true }).extend({ lease_token: leaseToken }),
  {
    lease_token: "The secret of the job's lease.",
  },
);

/** The body of `POST /admin/provision`. */
export const openQueueProvision = describeFields(
  z.strictObject({
    email: z.email().max(254).describe("an email address of at most 254 characters"),
  }),
  {
    email: "The address that names the tenant.",
  },
);
