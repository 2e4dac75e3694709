import {
  jobId,
  limits,
  openQueueJob,
  openQueueJobPage,
  openQueueJobStatus,
  openQueueListQuery,
  openQueueProvision,
  openQueueProvisioned,
  openQueueQueues,
  openQueueSubmit,
  openQueueSubmitBatch,
  openQueueSubmitted,
  openQueueSubmittedBatch,
} from "@atlasqueue/contract";
import { z } from "zod";
import { exampleId, exampleJob, exampleOpenQueueJob, exampleOpenQueueSubmission } from "../../route/examples.ts";
import { idempotencyKey, noBody, type Operation } from "../../route/operation.ts";

const surface = { tag: "OpenQueue", surface: "openqueue" } as const;
const id = z.strictObject({ id: jobId });
const secret = z.string().describe("the ADMIN_SECRET of the server");
const headers = z.strictObject({ "Idempotency-Key": idempotencyKey.optional() });

const submitted = { schema: openQueueSubmitted, example: { job_id: exampleId, status: "queued" } };
const submittedBatch = { schema: openQueueSubmittedBatch, example: { job_ids: [exampleId], count: 1 } };
const replayed = {
  description: "This key was used for the same request before: its answer.",
  headers: { "Idempotency-Replayed": "`true`" },
};

/** What OpenQueue's clients call, but for its workers' calls. */
export const openQueueOperations: Operation[] = [
  {
    method: "post",
    path: "/jobs",
    id: "openQueueSubmit",
    ...surface,
    summary: "Submit a job",
    description: `Its type here is \`openqueue\`. A payload may have ${limits.payload_bytes_max} bytes of JSON, a request ${limits.body_bytes_max}.`,
    scope: "submit",
    request: { headers, body: { schema: openQueueSubmit, example: exampleOpenQueueSubmission } },
    answers: { 201: { description: "The job is stored.", ...submitted }, 200: { ...replayed, ...submitted } },
    problems: ["idempotency_mismatch", "too_many_queues"],
  },
  {
    method: "post",
    path: "/jobs/batch",
    id: "openQueueSubmitBatch",
    ...surface,
    summary: "Submit many jobs, all or none",
    description: "One key is for all of them.",
    scope: "submit",
    request: { headers, body: { schema: openQueueSubmitBatch, example: { jobs: [exampleOpenQueueSubmission] } } },
    answers: {
      201: { description: "All are stored; in the order of the request.", ...submittedBatch },
      200: { ...replayed, ...submittedBatch },
    },
    problems: ["idempotency_mismatch", "too_many_queues"],
  },
  {
    method: "get",
    path: "/jobs",
    id: "openQueueListJobs",
    ...surface,
    summary: "List jobs, newest first",
    description: "For what is past the last offset, `/v1/jobs` has a cursor.",
    scope: "read",
    request: { query: openQueueListQuery },
    answers: {
      200: {
        description: "A page; `total` counts what the filter picks, on every page.",
        schema: openQueueJobPage,
        example: { items: [exampleOpenQueueJob], total: 1, limit: limits.list_items_default, offset: 0 },
      },
    },
    problems: ["validation"],
  },
  {
    method: "get",
    path: "/jobs/{id}",
    id: "openQueueGetJobStatus",
    ...surface,
    summary: "Read a job's status",
    scope: "read",
    request: { path: id },
    answers: {
      200: {
        description: "Its status, in OpenQueue's words.",
        schema: openQueueJobStatus,
        example: { job_id: exampleId, status: "pending" },
      },
    },
    problems: ["validation", "not_found"],
  },
  {
    method: "get",
    path: "/jobs/{id}/detail",
    id: "openQueueGetJob",
    ...surface,
    summary: "Read a job",
    scope: "read",
    request: { path: id },
    answers: { 200: { description: "The job.", schema: openQueueJob, example: exampleOpenQueueJob } },
    problems: ["validation", "not_found"],
  },
  {
    method: "post",
    path: "/jobs/{id}/cancel",
    id: "openQueueCancelJob",
    ...surface,
    summary: "Cancel a pending job",
    description: "One that is not pending is not found, as OpenQueue has it.",
    scope: "submit",
    request: { path: id, body: noBody },
    answers: {
      200: {
        description: "The job is cancelled.",
        schema: openQueueJobStatus,
        example: { job_id: exampleId, status: "cancelled" },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "get",
    path: "/dashboard/queues",
    id: "openQueueListQueues",
    ...surface,
    summary: "List the queues",
    description: "`failed` says how many of the `pending` wait for a retry; `total` has each job once.",
    scope: "read",
    answers: {
      200: {
        description: "Every queue that has had a job, or was paused.",
        schema: openQueueQueues,
        example: [
          {
            queue_name: "mails",
            pending: 16,
            processing: 4,
            completed: 1_530,
            failed: 1,
            cancelled: 0,
            dead: 2,
            total: 1_552,
            oldest_pending_created_at: exampleJob.created_at,
          },
        ],
      },
    },
    problems: ["validation"],
  },
  {
    method: "post",
    path: "/admin/provision",
    id: "openQueueProvision",
    ...surface,
    summary: "Make a tenant and a token for an email address",
    description: "The same address again gets another token of the same tenant. Off unless ADMIN_SECRET is set.",
    request: {
      headers: z.strictObject({ "X-Admin-Secret": secret }),
      body: { schema: openQueueProvision, example: { email: "a@b.example" } },
    },
    answers: { 200: { description: "The token; no other answer has it again.", schema: openQueueProvisioned } },
    problems: ["forbidden", "too_many_tokens", "unavailable"],
  },
];
