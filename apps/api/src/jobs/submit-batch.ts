import {
  submitBatch as submitBatchBody,
  submittedBatch,
  type SubmitBatch,
  type SubmittedBatch,
} from "@atlasqueue/contract";
import { enqueueAll, type EnqueueOutcome, type JobRow } from "@atlasqueue/core/internal";
import { ProblemError } from "../http/answers/problem.ts";
import { requireSmall } from "../http/body/require-small.ts";
import { exampleId, exampleKey, exampleSubmission } from "../route/examples.ts";
import { route } from "../route/route.ts";

export const submitBatch = route(
  {
    method: "post",
    path: "/v1/jobs/batch",
    id: "submitJobs",
    tag: "Jobs",
    summary: "Submit many jobs, all or none",
    description: "Jobs of one group run in the order of the list.",
    scope: "submit",
    request: {
      body: {
        list: "jobs",
        schema: submitBatchBody,
        example: { jobs: [{ ...exampleSubmission, idempotency_key: exampleKey }] },
      },
    },
    permits: ({ jobs }: SubmitBatch) => jobs.length,
    answers: {
      201: {
        description: "All are stored; in the order of the request.",
        schema: submittedBatch,
        example: { jobs: [{ id: exampleId, status: "queued", created: true }] },
      },
    },
    problems: ["idempotency_mismatch", "unique_conflict", "too_many_queues", "storage_full"],
  },
  async ({ deps, tenant, body: { jobs }, bytes, trace }) => {
    const submissions = jobs.map(({ idempotency_key, ...request }) => ({ tenant, request, idempotency_key, trace }));
    submissions.forEach(({ request }, at) =>
      requireSmall(request.payload, `/jobs/${at}/payload`, bytes, deps.payload_bytes_max),
    );
    await deps.queueBound.admit(
      tenant,
      jobs.map(({ queue }) => queue),
    );
    const keys = jobs.map(({ idempotency_key }) => idempotency_key);
    await deps.storageQuota.admit(tenant, { bytes, jobs: jobs.length, keys });
    const outcome = await enqueueAll(deps, submissions, deps);
    if (outcome.kind === "mismatch") throw mismatches(outcome.places);
    if (outcome.kind === "conflict") throw conflicts(outcome.places);
    deps.followUps.submitted(outcome.outcomes);
    return { jobs: outcome.outcomes.map(submitted) };
  },
);

const faults_max = 20;

function mismatches(places: readonly number[]): ProblemError {
  const errors = places.slice(0, faults_max).map((at) => ({
    pointer: `/jobs/${at}/idempotency_key`,
    message: "belongs to a job with another body; a new job needs a new key",
  }));
  const [first] = errors;
  return new ProblemError("idempotency_mismatch", `Nothing was stored: ${first?.pointer} ${first?.message}`, {
    errors,
  });
}

function conflicts(places: readonly { at: number; job_id: string }[]): ProblemError {
  const errors = places.slice(0, faults_max).map(({ at, job_id }) => ({
    pointer: `/jobs/${at}/unique`,
    message: `is held by the job ${job_id}`,
  }));
  const [first] = errors;
  return new ProblemError("unique_conflict", `Nothing was stored: ${first?.pointer} ${first?.message}`, { errors });
}

function submitted(outcome: EnqueueOutcome): SubmittedBatch["jobs"][number] {
  const { job, kind } = outcome as { kind: EnqueueOutcome["kind"]; job: JobRow };
  return { id: job.id, status: job.status, created: kind === "created" };
}
