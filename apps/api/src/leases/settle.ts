import {
  ackRequest,
  heartbeatAnswer,
  heartbeatRequest,
  changedJob,
  limits,
  nackRequest,
  releaseRequest,
  type AckRequest,
  type Job,
  releaseLeaseAnswer,
  releaseLeaseRequest,
} from "@atlasqueue/contract";
import { flowOf, childrenFaults, refusalFaults } from "@atlasqueue/core/internal";
import {
  afterSome,
  findJob,
  heartbeat as extend,
  releaseRemote,
  settleRemote,
  showJob,
  type Ack,
  type Nack,
  type RemoteOutcome,
  releaseLease as releaseOf,
  ackWithChildren,
  type Spawned,
} from "@atlasqueue/core/internal/http";
import { requireScope } from "../access/guard.ts";
import { unknownJob, invalid } from "../http/answers/problem.ts";
import { requireSmall } from "../http/body/body.ts";
import type { RouteDeps } from "../route/deps.ts";
import { exampleLockedUntil, exampleToken } from "../route/examples.ts";
import { jobPath, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { refused, requireHeld } from "../jobs/refused.ts";
import { admitJobs } from "../jobs/admit-jobs.ts";
import { conflicts } from "../jobs/batch-refusals.ts";

const lease_token = exampleToken;
const problems = ["not_found", "lease_lost"] as const;
const work = { tag: "Leases", scope: "work", gate: "lease", problems } as const;

export const ack = route(
  {
    ...work,
    at: "POST /v1/jobs/{id}/ack",
    id: "ackJob",
    summary: "Acknowledge a job",
    description:
      `A result may have ${limits.result_bytes_max} bytes of JSON. The same ack again changes nothing and gets the same answer.\n\n` +
      "`children` are jobs that it adds, as a batch does: they are stored with the ack, or neither is, and their faults " +
      "are those of a batch. They belong to the job's flow, which begins with it if it was in none, and the job is the " +
      "first of the parents of each. With `dependants_wait`, the jobs that wait for this one wait for its children too. " +
      "A token needs the scope `submit` for it.",
    request: {
      path: jobPath,
      body: { schema: ackRequest, example: { lease_token, result: { sent: true } } },
    },
    permits: ({ children = [] }: AckRequest) => 1 + children.length,
    answers: ok("The job, succeeded.", changedJob),
    problems: [...work.problems, "unique_conflict", "too_many_queues", "storage_full"],
  },
  async ({ deps, tenant, caller, path: { id }, body, bytes, trace }) => {
    requireSmall(body.result, "/result", bytes, limits.result_bytes_max);
    const { children = [], dependants_wait = false, ...done } = body;
    if (children.length === 0) return settled(deps, tenant, id, [{ id, ...done }], []);
    requireScope(caller, "submit");
    const spawned = { children: flowOf({ jobs: children }, { tenant, trace }).jobs, dependants_wait };
    return shown(deps, tenant, id, await settleAdding(deps, tenant, { id, ...done }, spawned, bytes));
  },
);

export const nack = route(
  {
    ...work,
    at: "POST /v1/jobs/{id}/nack",
    id: "nackJob",
    summary: "Report a failed attempt",
    description: "It is retried after a growing delay, or is dead after its last attempt.",
    request: {
      path: jobPath,
      body: {
        schema: nackRequest,
        example: { lease_token, error: "no such customer" },
        // One error, as far as it is kept: a job that cannot be given back would be lost.
        bytes_max: limits.error_body_bytes_max,
      },
    },
    answers: ok("The job, failed or dead.", changedJob),
  },
  ({ deps, tenant, path: { id }, body, bytes }) => {
    requireSmall(body.error_data, "/error_data", bytes, limits.error_data_bytes_max);
    return settled(deps, tenant, id, [], [{ id, ...body }]);
  },
);

export const release = route(
  {
    ...work,
    at: "POST /v1/jobs/{id}/release",
    id: "releaseJob",
    summary: "Release a job",
    description:
      "For a worker that stops before the job is done: it is ready again, in its old place, and no attempt is counted. " +
      "A worker without a handler for its type sends `later: true`: the job is ready again after as long as it has been " +
      "ready, 1 to 30 seconds, for a worker that has one. Sent again, it is a 409, as the lease has ended.",
    request: { path: jobPath, body: { schema: releaseRequest, example: { lease_token } } },
    answers: ok("The job: ready again, or leased by another worker since.", changedJob),
  },
  async ({ deps, tenant, path: { id }, body }) => {
    const [outcome] = await releaseRemote(deps, tenant, [{ id, ...body }]);
    return shown(deps, tenant, id, outcome);
  },
);

export const heartbeat = route(
  {
    ...work,
    at: "POST /v1/jobs/{id}/heartbeat",
    id: "heartbeat",
    summary: "Extend a lease (heartbeat)",
    request: { path: jobPath, body: { schema: heartbeatRequest, example: { lease_token, progress: { percent: 50 } } } },
    answers: ok("When the lease ends now.", heartbeatAnswer, { locked_until: exampleLockedUntil }),
  },
  async ({ deps, tenant, path: { id }, body, bytes }) => {
    requireSmall(body.progress, "/progress", bytes, limits.progress_bytes_max);
    const outcome = await extend(deps, tenant, { id, ...body });
    return outcome.kind === "extended" ? { locked_until: outcome.locked_until.toISOString() } : refused(outcome);
  },
);

export const releaseLease = route(
  {
    at: "POST /v1/leases/release",
    id: "releaseLease",
    tag: "Leases",
    summary: "Release all jobs of a lease",
    description:
      "For a worker that got no response to its lease, or to a settlement with `next`: all jobs leased under the " +
      "`lease_token` that it sent are ready again, in their old place, and no attempt is counted. Nothing is leased under that " +
      "token any more, even if the lease is still on its way. Repeat it until it succeeds: the second time it changes " +
      "nothing. If another transaction has locked a job of it, the response is 503, and the others are released.",
    scope: "work",
    gate: "lease",
    request: { body: { schema: releaseLeaseRequest, example: { lease_token } } },
    answers: ok("How many jobs were released.", releaseLeaseAnswer, { released: 1 }),
  },
  async ({ deps, tenant, body }) => ({ released: await releaseOf(deps, tenant, body.lease_token) }),
);

/** Settle one job, and return its new state. */
async function settled(deps: RouteDeps, tenant: string, id: string, acks: Ack[], nacks: Nack[]): Promise<Job> {
  const outcomes = await settleRemote(deps, tenant, acks, nacks);
  return shown(deps, tenant, id, [...outcomes.acks, ...outcomes.nacks][0]);
}

async function shown(deps: RouteDeps, tenant: string, id: string, outcome: RemoteOutcome | undefined): Promise<Job> {
  requireHeld(outcome);
  const found = await findJob(deps, tenant, id).catch(afterSome(true));
  return showJob(found ?? unknownJob());
}

/**
 * Settle a job together with the jobs it adds, which are checked and counted as a submission is.
 *
 * @example
 * const outcome = await settleAdding(deps, tenant, done, { children, dependants_wait: true }, bytes);
 */
async function settleAdding(
  deps: RouteDeps,
  tenant: string,
  done: Ack,
  spawned: Spawned,
  bytes: number,
): Promise<RemoteOutcome> {
  const { children } = spawned;
  const faults = childrenFaults(children);
  if (faults.length > 0) throw invalid(faults);
  // An ack sent again adds nothing, so it must be answered however full it is by now.
  const job = await findJob(deps, tenant, done.id);
  if (job?.status === "running") await admitJobs(deps, { tenant, bytes }, children, (at) => `/children/${at}`);
  const outcome = await ackWithChildren(deps, tenant, done, spawned);
  if (typeof outcome !== "object") return outcome;
  const why = refusalFaults(outcome, (at) => `/children/${at}`);
  throw outcome.kind === "conflict" ? conflicts(why) : invalid(why);
}
