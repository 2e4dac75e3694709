import { hash } from "node:crypto";
import {
  canonicalJson,
  openQueueSubmit,
  openQueueSubmitBatch,
  type OpenQueueSubmitted,
  type OpenQueueSubmittedBatch,
} from "@atlasqueue/contract";
import { enqueueAll, type EnqueueOutcome, type Submission } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { chargeJobs } from "../access/charge.ts";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import { holderOf } from "../http/input/holder.ts";
import { readIdempotencyKey } from "../http/input/idempotency-key.ts";
import { invalid, ProblemError } from "../http/answers/problem.ts";
import { readRequest, requireSmall } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";
import { queuesOf, type SubmitRouteDeps } from "../routes/submit.ts";
import { nativeRequest } from "./native.ts";

/** OpenQueue's `POST /jobs` and `POST /jobs/batch`. */
export function openQueueSubmitRoutes(deps: SubmitRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post("/jobs", requires("submit"), async (c) => {
    const { value, bytes } = await readRequest(c, openQueueSubmit, { bytes_max: deps.body_bytes_max });
    const idempotency_key = readOptionalKey(c);
    requireSmall(value.payload, "/payload", bytes, deps.payload_bytes_max);
    const submission = { tenant: tenantOf(c), request: nativeRequest(value), idempotency_key };
    const outcome = await deps.gate.hold(holderOf(c), bytes, async () => {
      await deps.queueBound.admit(submission.tenant, queuesOf([submission]));
      return deps.submitter.submit(submission, bytes);
    });
    // What comes this way never asks to be unique, so nothing else is without a job.
    if (!("job" in outcome)) throw mismatch("a job");
    const answer: OpenQueueSubmitted = { job_id: outcome.job.id, status: "queued" };
    return outcome.kind === "created" ? answerJson(c, 201, answer) : answerJson(c, 200, answer, replayed);
  });

  routes.post("/jobs/batch", requires("submit"), async (c) => {
    const { value, bytes } = await readRequest(c, openQueueSubmitBatch, { bytes_max: deps.body_bytes_max });
    await chargeJobs(c, value.jobs.length);
    const key = readOptionalKey(c);
    value.jobs.forEach(({ payload }, at) =>
      requireSmall(payload, `/jobs/${at}/payload`, bytes, deps.payload_bytes_max),
    );
    const tenant = tenantOf(c);
    const requests = value.jobs.map((job) => ({ tenant, request: nativeRequest(job) }));
    const submissions = key === undefined ? requests : underOneKey(requests, key);
    const outcome = await deps.gate.hold(holderOf(c), bytes, async () => {
      await deps.queueBound.admit(tenant, queuesOf(submissions));
      return enqueueAll(deps, submissions, deps);
    });
    if (outcome.kind !== "stored") throw mismatch("a batch");
    deps.followUps.submitted(outcome.outcomes);
    const job_ids = outcome.outcomes.map(idOf);
    const answer: OpenQueueSubmittedBatch = { job_ids, count: job_ids.length };
    const again = outcome.outcomes.every(({ kind }) => kind === "replayed");
    return again ? answerJson(c, 200, answer, replayed) : answerJson(c, 201, answer);
  });

  return routes;
}

const replayed = { "idempotency-replayed": "true" };

/** Unlike on /v1, a key is nobody's duty; one that is sent must be one. */
function readOptionalKey(c: ApiContext): string | undefined {
  if (c.req.header("idempotency-key") === undefined) return undefined;
  const key = readIdempotencyKey(c);
  if (typeof key === "string") return key;
  throw invalid([key]);
}

/**
 * One key for the whole batch, where keys are of jobs: each gets one made of it and its place, which stands for the
 * whole batch, so that another batch under this key is noticed whichever job differs.
 */
function underOneKey(requests: readonly Submission[], key: string): Submission[] {
  const fingerprint = sha256(canonicalJson(requests.map(({ request }) => request)));
  const prefix = `openqueue-batch:${sha256(key)}`;
  return requests.map((one, at) => ({ ...one, idempotency_key: `${prefix}:${at}`, fingerprint }));
}

const sha256 = (text: string) => hash("sha256", text, "hex");

function mismatch(what: string): ProblemError {
  const rule = "a new request needs a new key";
  return new ProblemError("idempotency_mismatch", `The key belongs to ${what} with another body; ${rule}`);
}

/** `enqueueAll` has no mismatches among what it stored. */
function idOf(outcome: EnqueueOutcome): string {
  if (!("job" in outcome)) throw new Error("a stored batch has a mismatch");
  return outcome.job.id;
}
