import {
  limits,
  openQueueSubmit,
  openQueueSubmitBatch,
  openQueueSubmitted,
  openQueueSubmittedBatch,
  type OpenQueueSubmit,
} from "@atlasqueue/contract";
import { answerOf, underOneKey } from "@atlasqueue/core/internal/http";
import { ProblemError } from "../http/answers/problem.ts";
import { admitJobs } from "../jobs/admit-jobs.ts";
import { exampleId, exampleOpenQueueSubmission } from "../route/examples.ts";
import { route } from "../route/route.ts";
import { nativeRequest } from "./words.ts";

const submission = {
  tag: "OpenQueue",
  scope: "submit",
  problems: ["idempotency_mismatch", "too_many_queues", "storage_full"],
} as const;
const submitted = { schema: openQueueSubmitted, example: { job_id: exampleId, status: "queued" } } as const;
const submittedBatch = { schema: openQueueSubmittedBatch, example: { job_ids: [exampleId], count: 1 } };
const replayed = {
  description: "This key was already used for the same request: its answer.",
  headers: { "Idempotency-Replayed": "`true`" },
};
const replay = { "idempotency-replayed": "true" };

export const submit = route(
  {
    ...submission,
    at: "POST /jobs",
    id: "openQueueSubmit",
    summary: "Submit a job",
    description: `Its type here is \`openqueue\`. A payload may have ${limits.payload_bytes_max} bytes of JSON, a request ${limits.body_bytes_max}.`,
    // Unlike on /v1, a key is optional.
    request: { idempotency_key: "optional", body: { schema: openQueueSubmit, example: exampleOpenQueueSubmission } },
    answers: { 201: { description: "The job is stored.", ...submitted }, 200: { ...replayed, ...submitted } },
  },
  async ({ deps, tenant, body, bytes, idempotency_key, trace }) => {
    const asked = { tenant, request: nativeRequest(body), idempotency_key, trace };
    await admitJobs(deps, { tenant, bytes }, [asked]);
    const outcome = await deps.submitter.submit(asked, bytes);
    // Jobs from here never ask to be unique, so nothing else is without a job.
    if (!("job" in outcome)) throw mismatch("a job");
    const answer = { job_id: outcome.job.id, status: "queued" } as const;
    return outcome.kind === "created" ? { status: 201, body: answer } : { status: 200, body: answer, headers: replay };
  },
);

export const submitBatch = route(
  {
    ...submission,
    at: "POST /jobs/batch",
    id: "openQueueSubmitBatch",
    summary: "Submit many jobs, all or none",
    description: "One key covers all of them.",
    request: {
      idempotency_key: "optional",
      body: { schema: openQueueSubmitBatch, example: { jobs: [exampleOpenQueueSubmission] } },
    },
    permits: ({ jobs }: { jobs: OpenQueueSubmit[] }) => jobs.length,
    answers: {
      201: { description: "All are stored; in the order of the request.", ...submittedBatch },
      200: { ...replayed, ...submittedBatch },
    },
  },
  async ({ deps, tenant, body: { jobs }, bytes, idempotency_key: key, trace }) => {
    const asked = { jobs: jobs.map((one) => ({ tenant, request: nativeRequest(one), trace })) };
    const batch = key === undefined ? asked : underOneKey(asked, key);
    await admitJobs(deps, { tenant, bytes }, batch.jobs, (at) => `/jobs/${at}`);
    const outcome = await deps.submitter.submitFlow(batch);
    if (outcome.kind !== "stored") throw mismatch("a batch");
    const { jobs: stored } = answerOf(batch, outcome.outcomes);
    const answer = { job_ids: stored.map(({ id }) => id), count: stored.length };
    const is_new = stored.some(({ created }) => created);
    return is_new ? { status: 201, body: answer } : { status: 200, body: answer, headers: replay };
  },
);

function mismatch(what: string): ProblemError {
  const rule = "a new request needs a new key";
  return new ProblemError("idempotency_mismatch", `The key belongs to ${what} with another body; ${rule}`);
}
