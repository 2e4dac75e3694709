import {
  jobId,
  limits,
  openQueueAck,
  openQueueHeartbeat,
  openQueueLease,
  openQueueLeaseRequest,
  openQueueNack,
  openQueueSettled,
  queueName,
  type OpenQueueSettled,
  type ProblemKind,
} from "@atlasqueue/contract";
import { z } from "zod";
import { exampleId, exampleLockedUntil, exampleOpenQueueJob, exampleToken } from "../../route/examples.ts";
import type { Operation } from "../../route/operation.ts";

const surface = { tag: "OpenQueue", surface: "openqueue", method: "post", scope: "work" } as const;
const id = z.strictObject({ id: jobId });
const lease_token = exampleToken;
const problems: ProblemKind[] = ["not_found", "lease_lost"];

const settled = (description: string, status: OpenQueueSettled["status"]) => ({
  200: { description, schema: openQueueSettled, example: { job_id: exampleId, status } },
});

/** What OpenQueue's workers call. */
export const openQueueLeaseOperations: Operation[] = [
  {
    ...surface,
    path: "/queues/{queue}/lease",
    id: "openQueueLease",
    summary: "Lease a job of a queue",
    description: "It does not wait for one: `/v1/queues/{queue}/lease` can. Jobs of every type are handed out.",
    request: {
      path: z.strictObject({ queue: queueName }),
      body: { schema: openQueueLeaseRequest, example: { worker_id: "worker-1", lease_seconds: 30 } },
    },
    answers: {
      200: {
        description: "The leased job; null when there was none.",
        schema: openQueueLease,
        example: {
          job: { ...exampleOpenQueueJob, status: "processing" },
          lease_token,
          lease_expires_at: exampleLockedUntil,
        },
      },
    },
    problems: [],
  },
  {
    ...surface,
    path: "/jobs/{id}/ack",
    id: "openQueueAck",
    summary: "Settle a job as done",
    description: `A result may have ${limits.result_bytes_max} bytes of JSON. The same ack again changes nothing and is answered alike.`,
    request: { path: id, body: { schema: openQueueAck, example: { lease_token, result: { sent: true } } } },
    answers: settled("It has succeeded.", "completed"),
    problems,
  },
  {
    ...surface,
    path: "/jobs/{id}/nack",
    id: "openQueueNack",
    summary: "Settle a job as failed",
    description: "It is retried after a delay that doubles, up to 300 s, or is dead after its last retry.",
    request: { path: id, body: { schema: openQueueNack, example: { lease_token, error: "no such customer" } } },
    answers: settled("It waits for its retry, or is dead.", "failed_or_requeued"),
    problems,
  },
  {
    ...surface,
    path: "/jobs/{id}/heartbeat",
    id: "openQueueHeartbeat",
    summary: "Hold a job for longer",
    request: { path: id, body: { schema: openQueueHeartbeat, example: { lease_token, lease_seconds: 60 } } },
    answers: settled("It is held for longer.", "lease_extended"),
    problems,
  },
];
