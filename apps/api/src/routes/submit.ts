import { submitBatch, submitJob, validate, type SubmitJob, type SubmittedBatch } from "@atlasqueue/contract";
import {
  enqueueAll,
  showJob,
  type Deps,
  type EnqueueOptions,
  type EnqueueOutcome,
  type FollowUps,
  type JobRow,
  type QueueBound,
  type Submission,
  type Submitter,
} from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { chargeJobs } from "../access/charge.ts";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import { readJson, type JsonBody } from "../http/body/body.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { readIdempotencyKey } from "../http/input/idempotency-key.ts";
import { invalid, ProblemError } from "../http/answers/problem.ts";
import { refuseQuery } from "../http/input/query.ts";
import { readRequest, requireSmall } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";

export type SubmitRouteDeps = Deps &
  EnqueueOptions & {
    submitter: Submitter;
    queueBound: QueueBound;
    followUps: Pick<FollowUps, "submitted">;
    gate: Gate;
    body_bytes_max: number;
    payload_bytes_max: number;
  };

/** `POST /jobs` and `POST /jobs/batch`. */
export function submitRoutes(deps: SubmitRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post("/jobs", requires("submit"), async (c) => {
    refuseQuery(c);
    const body = await readJson(c, { bytes_max: deps.body_bytes_max });
    const { request, idempotency_key } = checkSubmission(c, body);
    requireSmall(request.payload, "/payload", body.bytes, deps.payload_bytes_max);
    const submission = { tenant: tenantOf(c), request, idempotency_key };
    const outcome = await deps.gate.hold(holderOf(c), body.bytes, async () => {
      await deps.queueBound.admit(submission.tenant, [request.queue]);
      return deps.submitter.submit(submission, body.bytes);
    });
    switch (outcome.kind) {
      case "created":
        return answerJson(c, 201, showJob(outcome.job), { location: `/v1/jobs/${outcome.job.id}` });
      case "replayed":
        return answerJson(c, 200, showJob(outcome.job), { "idempotency-replayed": "true" });
      case "mismatch":
        throw new ProblemError(
          "idempotency_mismatch",
          "The key belongs to a job with another body; a new job needs a new key",
        );
      case "existing":
        return answerJson(c, 200, showJob(outcome.job), { "unique-conflict": "returned" });
      case "replaced":
        return answerJson(c, 200, showJob(outcome.job), { "unique-conflict": "replaced" });
      case "conflict":
        throw new ProblemError("unique_conflict", `The job ${outcome.job_id} has this unique key`);
      default:
        return outcome satisfies never;
    }
  });

  routes.post("/jobs/batch", requires("submit"), async (c) => {
    const { value, bytes } = await readRequest(c, submitBatch, { bytes_max: deps.body_bytes_max });
    await chargeJobs(c, value.jobs.length);
    const tenant = tenantOf(c);
    const submissions = value.jobs.map(({ idempotency_key, ...request }) => ({ tenant, request, idempotency_key }));
    submissions.forEach(({ request }, at) =>
      requireSmall(request.payload, `/jobs/${at}/payload`, bytes, deps.payload_bytes_max),
    );
    const outcome = await deps.gate.hold(holderOf(c), bytes, async () => {
      await deps.queueBound.admit(tenant, queuesOf(submissions));
      return enqueueAll(deps, submissions, deps);
    });
    if (outcome.kind === "mismatch") throw mismatches(outcome.places);
    if (outcome.kind === "conflict") throw conflicts(outcome.places);
    deps.followUps.submitted(outcome.outcomes);
    return answerJson(c, 201, { jobs: outcome.outcomes.map(submitted) } satisfies SubmittedBatch);
  });

  return routes;
}

/** The queues that some jobs are for. */
export const queuesOf = (submissions: readonly Submission[]) => submissions.map(({ request }) => request.queue);

/** Everything that is wrong with the key and the body is told at once. */
function checkSubmission(c: ApiContext, body: JsonBody): { request: SubmitJob; idempotency_key: string } {
  const key = readIdempotencyKey(c);
  const checked = validate(submitJob, body.value);
  if (typeof key !== "string" || checked.kind === "invalid")
    throw invalid([...(typeof key === "string" ? [] : [key]), ...(checked.kind === "invalid" ? checked.faults : [])]);
  return { request: checked.value, idempotency_key: key };
}

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
