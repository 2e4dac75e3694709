import {
  idempotencyKeyAccepts,
  submitBatch as submitBatchBody,
  submittedBatch,
  type SubmitBatch,
  type SubmittedBatch,
} from "@atlasqueue/contract";
import { enqueueAll, type EnqueueOutcome, type JobRow, type Submission } from "@atlasqueue/core/internal";
import { invalid, ProblemError } from "../http/answers/problem.ts";
import { requireSmall } from "../http/body/require-small.ts";
import { exampleId, exampleKey, exampleSubmission } from "../route/examples.ts";
import { route } from "../route/route.ts";
import { underOneKey } from "./under-one-key.ts";

export const submitBatch = route(
  {
    method: "post",
    path: "/v1/jobs/batch",
    id: "submitJobs",
    tag: "Jobs",
    summary: "Submit many jobs, all or none",
    description:
      "Jobs of one group run in the order of the list. Either each job has its `idempotency_key`, or the header " +
      "`Idempotency-Key` stands for the whole batch: the same batch sent again under it answers the same ids.",
    scope: "submit",
    request: {
      idempotency_key: "optional",
      body: {
        list: "jobs",
        schema: submitBatchBody,
        example: { jobs: [{ ...exampleSubmission, idempotency_key: exampleKey }] },
        // Sent with a key in the header.
        foreign: { jobs: [exampleSubmission] },
      },
    },
    permits: ({ jobs }: SubmitBatch) => jobs.length,
    answers: {
      201: {
        description: "All are stored; in the order of the request.",
        schema: submittedBatch,
        some_headers: {
          "Idempotency-Replayed": "`true` when the header's key was used before: nothing new was stored.",
        },
        example: { jobs: [{ id: exampleId, status: "queued", created: true }] },
      },
    },
    problems: ["idempotency_mismatch", "unique_conflict", "too_many_queues", "storage_full"],
  },
  async ({ deps, tenant, body: { jobs }, bytes, idempotency_key: key, trace }) => {
    requireKeys(jobs, key);
    const single = jobs.map(({ idempotency_key, ...request }) => ({ tenant, request, idempotency_key, trace }));
    const submissions: readonly Submission[] = key === undefined ? single : underOneKey(single, key);
    submissions.forEach(({ request }, at) =>
      requireSmall(request.payload, `/jobs/${at}/payload`, bytes, deps.payload_bytes_max),
    );
    await deps.queueBound.admit(
      tenant,
      jobs.map(({ queue }) => queue),
    );
    const keys = submissions.flatMap(({ idempotency_key }) => idempotency_key ?? []);
    await deps.storageQuota.admit(tenant, { bytes, jobs: jobs.length, keys });
    const outcome = await enqueueAll(deps, submissions, deps);
    if (outcome.kind === "mismatch") throw key === undefined ? mismatches(outcome.places) : mismatch();
    if (outcome.kind === "conflict") throw conflicts(outcome.places);
    deps.followUps.submitted(outcome.outcomes);
    const again = key !== undefined && outcome.outcomes.every(({ kind }) => kind === "replayed");
    const headers: Record<string, string> = again ? { "idempotency-replayed": "true" } : {};
    return { status: 201, body: { jobs: outcome.outcomes.map(submitted) }, headers };
  },
);

const faults_max = 20;

/** Each job has its own key, or the header's key is that of all. */
function requireKeys(jobs: SubmitBatch["jobs"], key: string | undefined): void {
  const faults = jobs.flatMap(({ idempotency_key }, at) => {
    if ((idempotency_key === undefined) !== (key === undefined)) return [];
    const message =
      key === undefined
        ? `is required, unless an Idempotency-Key header stands for the whole batch: ${idempotencyKeyAccepts}`
        : "must be left out, as the Idempotency-Key header stands for the whole batch";
    return [{ pointer: `/jobs/${at}/idempotency_key`, message }];
  });
  if (faults.length > 0) throw invalid(faults);
}

const mismatch = () =>
  new ProblemError("idempotency_mismatch", "The key belongs to another batch; a new batch needs a new key");

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
