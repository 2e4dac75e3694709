import { changedJob, limits, submitSingle, showValue, type Fault } from "@atlasqueue/contract";
import { showJob, flowFaults, tiesOf, type EnqueueOutcome, type FlowJob } from "@atlasqueue/core/internal/http";
import { exampleJob, exampleSubmission } from "../route/examples.ts";
import { route } from "../route/route.ts";
import { admitJobs } from "./admit-jobs.ts";
import { keyMismatch, uniqueConflict } from "./refused.ts";
import { showKnown } from "./show-known.ts";
import { invalid } from "../http/answers/problem.ts";
import type { RouteDeps } from "../route/deps.ts";

/** How the answer says that it shows a job that was there. */
const metHeaders = {
  replayed: { "idempotency-replayed": "true" },
  existing: { "unique-conflict": "returned" },
  replaced: { "unique-conflict": "replaced" },
};

export const submit = route(
  {
    at: "POST /v1/jobs",
    id: "submitJob",
    tag: "Jobs",
    summary: "Submit a job",
    description:
      "Once answered, the job is durable. The same key with the same request, however often it is sent, makes one " +
      `job. \`traceparent\` and \`tracestate\` (W3C Trace Context) are kept with it, and are no part of the request that the ` +
      `key stands for. A payload may have ${limits.payload_bytes_max} bytes of JSON, a request ${limits.body_bytes_max}. With ` +
      "`depends_on`, ids of jobs that exist, it waits for them as a job of a batch does.",
    scope: "submit",
    request: { idempotency_key: "required", body: { schema: submitSingle, example: exampleSubmission } },
    answers: {
      201: {
        description: "The job is stored.",
        schema: changedJob,
        headers: { Location: "Where the job can be read." },
        example: exampleJob,
      },
      200: {
        description:
          "This key was already used for the same request: the job it made. Or a job with the same unique key exists: " +
          "that job, unchanged or as replaced by this request.",
        schema: changedJob,
        some_headers: {
          "Idempotency-Replayed": "`true` when the key was used before.",
          "Unique-Conflict": "`returned` or `replaced`, when a job with the unique key existed.",
        },
        example: exampleJob,
      },
    },
    problems: ["idempotency_mismatch", "unique_conflict", "too_many_queues", "storage_full"],
  },
  async ({ deps, tenant, body, bytes, idempotency_key, trace }) => {
    const { depends_on = [], on_parent_failure } = body;
    const request = { ...body, depends_on: undefined, on_parent_failure: undefined };
    const submission = { tenant, request, idempotency_key, trace };
    await admitJobs(deps, { tenant, bytes }, [submission]);
    const outcome =
      depends_on.length > 0
        ? await submitDependent(deps, { ...submission, depends_on, on_parent_failure })
        : await deps.submitter.submit(submission, bytes);
    switch (outcome.kind) {
      case "created":
        return { status: 201, body: showJob(outcome.job), headers: { location: `/v1/jobs/${outcome.job.id}` } };
      case "replayed":
      case "existing":
      case "replaced":
        return { status: 200, body: await showKnown(deps, outcome, request), headers: metHeaders[outcome.kind] };
      case "mismatch":
        throw keyMismatch();
      case "conflict":
        throw uniqueConflict(outcome.job_id);
      default:
        return outcome satisfies never;
    }
  },
);

/**
 * Submit a job that waits for jobs that exist: a flow of one. Its outcome is what any single job's is.
 *
 * @example
 * const outcome = await submitDependent(deps, { tenant, request, idempotency_key, depends_on: [id] });
 */
async function submitDependent(deps: RouteDeps, job: FlowJob): Promise<EnqueueOutcome> {
  const faults = flowFaults({ jobs: [{ ...job, idempotency_key: undefined }] });
  if (faults.length > 0) throw invalid(faults.map(ofSingle));
  const outcome = await deps.submitter.submitFlow({ jobs: [{ ...job, fingerprint: tiesOf(job) }] });
  if (outcome.kind === "unknown_parents") throw invalid(outcome.places.slice(0, 20).map(unknownParent));
  if (outcome.kind === "conflict") return { kind: "conflict", job_id: outcome.places[0]?.job_id ?? "" };
  return outcome.kind === "mismatch" ? outcome : (outcome.outcomes[0] as EnqueueOutcome);
}

const ofSingle = ({ pointer, message }: Fault): Fault => ({ pointer: pointer.replace("/jobs/0", ""), message });

const unknownParent = ({ nth, id }: { nth: number; id: string }): Fault => {
  return { pointer: `/depends_on/${nth}`, message: `must be the id of a job that exists; got ${showValue(id)}` };
};
