import {
  attemptList,
  explanation,
  getJobQuery,
  job,
  jobId,
  jobPage,
  limits,
  listJobsQuery,
  submitBatch,
  submitJob,
  submittedBatch,
} from "@atlasqueue/contract";
import { z } from "zod";
import { exampleId, exampleJob, exampleSubmission } from "../../route/examples.ts";
import { idempotencyKey, noBody, type Operation } from "../../route/operation.ts";

const id = z.strictObject({ id: jobId });

/** Submitting jobs and reading them. */
export const jobOperations: Operation[] = [
  {
    method: "post",
    path: "/v1/jobs",
    id: "submitJob",
    tag: "Jobs",
    summary: "Submit a job",
    description:
      "Once it is answered, the job is durable. The same key with the same request, however often it is sent, makes one " +
      `job. A payload may have ${limits.payload_bytes_max} bytes of JSON, a request ${limits.body_bytes_max}.`,
    scope: "submit",
    request: {
      headers: z.strictObject({ "Idempotency-Key": idempotencyKey }),
      body: { schema: submitJob, example: exampleSubmission },
    },
    answers: {
      201: {
        description: "The job is stored.",
        schema: job,
        headers: { Location: "Where the job can be read." },
        example: exampleJob,
      },
      200: {
        description:
          "This key was used for the same request before: the job that it made. Or a job with the same unique key is there: " +
          "that job, as it is or as this request has replaced it.",
        schema: job,
        some_headers: {
          "Idempotency-Replayed": "`true`, when the key was used before.",
          "Unique-Conflict": "`returned` or `replaced`, when a job with the unique key was there.",
        },
        example: exampleJob,
      },
    },
    problems: ["idempotency_mismatch", "unique_conflict", "too_many_queues"],
  },
  {
    method: "post",
    path: "/v1/jobs/batch",
    id: "submitJobs",
    tag: "Jobs",
    summary: "Submit many jobs, all or none",
    description: "Jobs of one group run in the order of the list.",
    scope: "submit",
    request: {
      body: { schema: submitBatch, example: { jobs: [{ ...exampleSubmission, idempotency_key: "order-17" }] } },
    },
    answers: {
      201: {
        description: "All are stored; in the order of the request.",
        schema: submittedBatch,
        example: { jobs: [{ id: exampleId, status: "queued", created: true }] },
      },
    },
    problems: ["idempotency_mismatch", "unique_conflict", "too_many_queues"],
  },
  {
    method: "get",
    path: "/v1/jobs",
    id: "listJobs",
    tag: "Jobs",
    summary: "List jobs, newest first",
    scope: "read",
    request: { query: listJobsQuery },
    answers: {
      200: {
        description:
          "A page. It may be short, even empty, and still have a `next_cursor`; null means there is no more.",
        schema: jobPage,
        example: { items: [exampleJob], next_cursor: null },
      },
    },
    problems: ["validation"],
  },
  {
    method: "get",
    path: "/v1/jobs/{id}",
    id: "getJob",
    tag: "Jobs",
    summary: "Read a job",
    description: "With `wait_seconds` it is answered as soon as the job is final, or when the time is over.",
    scope: "read",
    request: { path: id, query: getJobQuery },
    answers: { 200: { description: "The job.", schema: job, example: exampleJob } },
    problems: ["validation", "not_found"],
  },
  {
    method: "get",
    path: "/v1/jobs/{id}/attempts",
    id: "listAttempts",
    tag: "Jobs",
    summary: "List the attempts at a job",
    scope: "read",
    request: { path: id },
    answers: {
      200: {
        description: "In their order.",
        schema: attemptList,
        example: {
          items: [
            {
              attempt: 1,
              worker_id: "worker-1",
              started_at: exampleJob.created_at,
              finished_at: exampleJob.created_at,
              outcome: "failed",
              error: "no such customer",
              log: [{ at: exampleJob.created_at, line: "looked the customer up" }],
            },
          ],
        },
      },
    },
    problems: ["validation", "not_found"],
  },
  {
    method: "get",
    path: "/v1/jobs/{id}/explain",
    id: "explainJob",
    tag: "Jobs",
    summary: "Why a job is not running now",
    scope: "read",
    request: { path: id },
    answers: { 200: { description: "Reasons in words and codes.", schema: explanation } },
    problems: ["validation", "not_found"],
  },
  {
    method: "post",
    path: "/v1/jobs/{id}/cancel",
    id: "cancelJob",
    tag: "Jobs",
    summary: "Cancel a job that is not final",
    description: "A running one too: its lease ends, and its handler is aborted.",
    scope: "submit",
    request: { path: id, body: noBody },
    answers: { 200: { description: "The cancelled job.", schema: job } },
    problems: ["not_found", "job_finished"],
  },
  {
    method: "post",
    path: "/v1/jobs/{id}/retry",
    id: "retryJob",
    tag: "Jobs",
    summary: "Run a dead, cancelled or failed job again",
    description: "It is queued now with no attempts counted; its history is kept.",
    scope: "submit",
    request: { path: id, body: noBody },
    answers: { 200: { description: "The queued job.", schema: job } },
    problems: ["not_found", "not_retryable"],
  },
];
