import {
  ackRequest,
  heartbeatAnswer,
  heartbeatRequest,
  job,
  jobId,
  leaseAnswer,
  leaseRequest,
  limits,
  nackRequest,
  queueName,
  settleAnswer,
  settleRequest,
} from "@atlasqueue/contract";
import { z } from "zod";
import { exampleId, exampleJob, exampleLockedUntil, exampleToken } from "../../route/examples.ts";
import type { Operation } from "../../route/operation.ts";

const id = z.strictObject({ id: jobId });
const lease_token = exampleToken;

/** What a worker in any language needs. */
export const leaseOperations: Operation[] = [
  {
    method: "post",
    path: "/v1/queues/{queue}/lease",
    id: "leaseJobs",
    tag: "Work",
    summary: "Lease jobs of a queue",
    description:
      "With `wait_seconds` it waits for a job when there is none. A leased job is the worker's until `locked_until`; " +
      "who needs longer sends heartbeats, and a job that is neither settled nor renewed in time goes to another worker.",
    scope: "work",
    request: {
      path: z.strictObject({ queue: queueName }),
      body: { schema: leaseRequest, example: { worker_id: "worker-1", max_jobs: 10, wait_seconds: 20 } },
    },
    answers: {
      200: {
        description: "The leased jobs; none when there were none in time.",
        schema: leaseAnswer,
        example: {
          jobs: [
            {
              job: { ...exampleJob, status: "running", attempts: 1, worker_id: "worker-1" },
              lease_token,
              locked_until: exampleLockedUntil,
            },
          ],
        },
      },
    },
    problems: [],
  },
  {
    method: "post",
    path: "/v1/jobs/{id}/ack",
    id: "ackJob",
    tag: "Work",
    summary: "Settle a job as done",
    description: `A result may have ${limits.result_bytes_max} bytes of JSON. The same ack again changes nothing and is answered alike.`,
    scope: "work",
    request: { path: id, body: { schema: ackRequest, example: { lease_token, result: { sent: true } } } },
    answers: { 200: { description: "The job, succeeded.", schema: job } },
    problems: ["not_found", "lease_lost"],
  },
  {
    method: "post",
    path: "/v1/jobs/{id}/nack",
    id: "nackJob",
    tag: "Work",
    summary: "Settle a job as failed",
    description: "It is retried after a delay that grows, or is dead after its last attempt.",
    scope: "work",
    request: { path: id, body: { schema: nackRequest, example: { lease_token, error: "no such customer" } } },
    answers: { 200: { description: "The job, failed or dead.", schema: job } },
    problems: ["not_found", "lease_lost"],
  },
  {
    method: "post",
    path: "/v1/jobs/{id}/heartbeat",
    id: "heartbeat",
    tag: "Work",
    summary: "Hold a job for longer",
    scope: "work",
    request: { path: id, body: { schema: heartbeatRequest, example: { lease_token, progress: { percent: 50 } } } },
    answers: {
      200: {
        description: "Until when the job is held now.",
        schema: heartbeatAnswer,
        example: { locked_until: exampleLockedUntil },
      },
    },
    problems: ["not_found", "lease_lost"],
  },
  {
    method: "post",
    path: "/v1/leases/settle",
    id: "settleLeases",
    tag: "Work",
    summary: "Settle many jobs at once",
    scope: "work",
    request: {
      body: { schema: settleRequest, example: { acks: [{ id: exampleId, lease_token, result: { sent: true } }] } },
    },
    answers: {
      200: {
        description: "One outcome for each ack and each nack, in their order.",
        schema: settleAnswer,
        example: { acks: [{ id: exampleId, outcome: "succeeded" }], nacks: [] },
      },
    },
    problems: [],
  },
];
