import { z } from "zod";
import { describeFields } from "../../checks/field-texts.ts";
import { limits } from "../../checks/limits.ts";
import { jobId } from "../job.ts";
import { ackRequest, leaseAnswer, leaseRequest, nackRequest, releaseRequest } from "./lease.ts";

const ackFields = ackRequest.pick({ lease_token: true, result: true });

/** The body of `POST /v1/leases/settle`: acks, nacks and releases of many jobs at once, of any queues. */
export const settleRequest = describeFields(
  z.strictObject({
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
    /** Of each group whose job was acknowledged, the next job is leased by the same statement. */
    next: leaseRequest
      .pick({ worker_id: true, lease_seconds: true, lease_token: true, types: true })
      .optional()
      .describe(
        "the worker that takes the next job of each group: an object with worker_id, and perhaps lease_seconds, lease_token and types",
      ),
  }),
  {
    acks: "Jobs that succeeded.",
    nacks: "Attempts that failed.",
    releases: "Jobs to release. No attempt is counted.",
    next: "Lease the next job of each group whose job was acknowledged.",
  },
).refine(({ acks, nacks, releases = [] }) => acks.length + nacks.length + releases.length <= limits.batch_items_max, {
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
const settled = z.array(
  describeFields(z.strictObject({ id: jobId, outcome: z.enum(settleOutcomes) }), {
    id: "The job's id.",
    outcome: "The job's new status. `lease_lost` and `not_found` changed nothing.",
  }),
);

/** One outcome for each ack, nack and release, in order; and what was leased, and for how long, if it was asked for. */
export const settleAnswer = describeFields(
  z.strictObject({
    acks: settled,
    nacks: settled,
    releases: settled.optional(),
    next: leaseAnswer.shape.jobs.optional(),
    waited_ms: leaseAnswer.shape.waited_ms.optional(),
    remaining_ms: leaseAnswer.shape.remaining_ms.optional(),
    repeated: leaseAnswer.shape.repeated.optional(),
  }),
  {
    acks: "One outcome for each ack, in order.",
    nacks: "One outcome for each nack, in order.",
    releases: "One outcome for each release, in order.",
    next: "The jobs that were leased, if `next` was given.",
  },
);
export type SettleAnswer = z.infer<typeof settleAnswer>;
