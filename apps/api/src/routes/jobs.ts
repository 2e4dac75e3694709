import { jobId, showValue, submitJob, validate, type SubmitJob } from "@atlasqueue/contract";
import { findJob, showJob, type Deps, type JobRow, type Submitter } from "@atlasqueue/core";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answer.ts";
import { readJson, type JsonBody } from "../http/body.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import type { Gate } from "../http/gate.ts";
import { readIdempotencyKey } from "../http/idempotency-key.ts";
import { invalid, ProblemError } from "../http/problem.ts";
import { refuseQuery } from "../http/query.ts";
import { tenantOf } from "../http/tenant.ts";

export type JobRouteDeps = Deps & {
  submitter: Submitter;
  gate: Gate;
  body_bytes_max: number;
  payload_bytes_max: number;
};

/** `POST /jobs` and `GET /jobs/:id`. */
export function jobRoutes(deps: JobRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post("/jobs", requires("submit"), async (c) => {
    refuseQuery(c);
    const body = await readJson(c, deps.body_bytes_max);
    const { request, idempotency_key } = checkSubmission(c, body, deps.payload_bytes_max);
    const submission = { tenant: tenantOf(c), request, idempotency_key };
    const outcome = await deps.gate.hold(body.bytes, () => deps.submitter.submit(submission, body.bytes));
    switch (outcome.kind) {
      case "created":
        return answerJob(c, 201, outcome.job, { location: `/v1/jobs/${outcome.job.id}` });
      case "replayed":
        return answerJob(c, 200, outcome.job, { "idempotency-replayed": "true" });
      case "mismatch":
        throw new ProblemError(
          "idempotency_mismatch",
          "The key belongs to a job with another body; a new job needs a new key",
        );
      default:
        return outcome satisfies never;
    }
  });

  routes.get("/jobs/:id", requires("read"), async (c) => {
    refuseQuery(c);
    const id = readJobId(c.req.param("id"));
    const job = await deps.gate.hold(0, () => findJob(deps, tenantOf(c), id));
    if (!job) throw new ProblemError("not_found", "There is no job with this id");
    return answerJob(c, 200, job);
  });

  return routes;
}

/** Everything that is wrong with the key and the body is told at once. */
function checkSubmission(
  c: ApiContext,
  body: JsonBody,
  payload_bytes_max: number,
): { request: SubmitJob; idempotency_key: string } {
  const key = readIdempotencyKey(c);
  const checked = validate(submitJob, body.value);
  if (typeof key !== "string" || checked.kind === "invalid")
    throw invalid([...(typeof key === "string" ? [] : [key]), ...(checked.kind === "invalid" ? checked.faults : [])]);
  requireSmallPayload(checked.value, body.bytes, payload_bytes_max);
  return { request: checked.value, idempotency_key: key };
}

/** Counted as compact JSON. A body that is small enough as a whole is not written out just to count it. */
function requireSmallPayload({ payload }: SubmitJob, body_bytes: number, bytes_max: number): void {
  if (body_bytes <= bytes_max || Buffer.byteLength(JSON.stringify(payload)) <= bytes_max) return;
  const message = `may have ${bytes_max} bytes of JSON at most; keep large data elsewhere and send where it is`;
  throw new ProblemError("too_large", `/payload ${message}`, { errors: [{ pointer: "/payload", message }] });
}

function readJobId(text: string): string {
  const parsed = jobId.safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalid([{ pointer: "path:id", message: `must be ${jobId.description}; got ${showValue(text)}` }]);
}

function answerJob(c: ApiContext, status: number, job: JobRow, headers?: Record<string, string>): Response {
  return answerJson(c, status, showJob(job), headers);
}
