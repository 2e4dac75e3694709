import { changedJob, type Job } from "@atlasqueue/contract";
import { cancel as cancelJob, findJob, retry as retryJob, showJob } from "@atlasqueue/core/internal/http";
import { unknownJob } from "../http/answers/problem.ts";
import type { RouteDeps } from "../route/deps.ts";
import { noBody } from "../route/operation.ts";
import { jobPath, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { refused } from "./refused.ts";
import { showRetried } from "./show-known.ts";

const underKey =
  "Sent again with the same `Idempotency-Key`, it changes nothing more: the answer is the job as it is then.";

export const cancel = route(
  {
    at: "POST /v1/jobs/{id}/cancel",
    id: "cancelJob",
    audit: { action: "job.cancel" },
    tag: "Jobs",
    summary: "Cancel a job",
    description: `Any job that is not final. If it is running, its lease ends and its handler is aborted. ${underKey}`,
    scope: "submit",
    request: { path: jobPath, idempotency_key: "optional", body: noBody },
    answers: ok("The cancelled job.", changedJob),
    problems: ["not_found", "job_finished"],
  },
  async ({ deps, tenant, path: { id }, repeated }) => {
    if (repeated) return showAsIs(deps, tenant, id);
    const outcome = await cancelJob(deps, tenant, id);
    if (outcome.kind !== "cancelled") return refused(outcome);
    await deps.followUps.cancelled([outcome.job], outcome.ready);
    return showJob(outcome.job);
  },
);

export const retry = route(
  {
    at: "POST /v1/jobs/{id}/retry",
    id: "retryJob",
    audit: { action: "job.retry" },
    tag: "Jobs",
    summary: "Retry a job",
    description: `A dead, cancelled or failed job is queued now with no attempts counted. Its history is kept. ${underKey}`,
    scope: "submit",
    request: { path: jobPath, idempotency_key: "optional", body: noBody },
    answers: ok("The queued job.", changedJob),
    problems: ["not_found", "not_retryable"],
  },
  async ({ deps, tenant, path: { id }, repeated }) => {
    if (repeated) return showAsIs(deps, tenant, id);
    const outcome = await retryJob(deps, tenant, id);
    return outcome.kind === "retried" ? showRetried(deps, outcome) : refused(outcome);
  },
);

/** What a request that is repeated under its key is answered with. */
async function showAsIs(deps: RouteDeps, tenant: string, id: string): Promise<Job> {
  return showJob((await findJob(deps, tenant, id)) ?? unknownJob());
}
