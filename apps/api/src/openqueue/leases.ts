import {
  limits,
  openQueueAck,
  openQueueHeartbeat,
  openQueueLease,
  openQueueLeaseRequest,
  openQueueNack,
  openQueueSettled,
  queueName,
  type OpenQueueSettled,
} from "@atlasqueue/contract";
import { isUuid } from "@atlasqueue/core/internal";
import { heartbeat as extend, settleRemote, type RemoteOutcome } from "@atlasqueue/core/internal/http";
import { z } from "zod";
import { refused, requireHeld } from "../jobs/refused.ts";
import { requireSmall } from "../http/body/body.ts";
import { exampleId, exampleLockedUntil, exampleOpenQueueJob, exampleToken } from "../route/examples.ts";
import { jobPath, ok } from "../route/answers.ts";
import { route } from "../route/route.ts";
import { releaseIfGone } from "../leases/show-leases.ts";
import { openQueueBackoff, showOpenQueueJob } from "./words.ts";

const work = { tag: "OpenQueue", scope: "work" } as const;
const act = { ...work, gate: "lease", problems: ["not_found", "lease_lost"] } as const;
const lease_token = exampleToken;

type Status = OpenQueueSettled["status"];
const settled = (description: string, status: Status) => ({
  200: { description, schema: openQueueSettled, example: { job_id: exampleId, status } },
});

export const lease = route(
  {
    ...work,
    at: "POST /queues/{queue}/lease",
    id: "openQueueLease",
    hands_over: true,
    summary: "Lease a job of a queue",
    description: "It does not wait for one: `/v1/queues/{queue}/lease` can. Jobs of every type are leased.",
    request: {
      path: z.strictObject({ queue: queueName }),
      body: { schema: openQueueLeaseRequest, example: { worker_id: "worker-1", lease_seconds: 30 } },
    },
    answers: ok("The leased job; null when there was none.", openQueueLease, {
      job: { ...exampleOpenQueueJob, status: "processing" },
      lease_token,
      lease_expires_at: exampleLockedUntil,
    }),
  },
  async (call) => {
    const { deps, tenant, path, body, hungUp } = call;
    const handed = await deps.longPoll.lease({ ...body, ...path, tenant, jobs_max: 1, wait_ms: 0 }, hungUp());
    const [one] = handed.jobs;
    if (!one) return null;
    releaseIfGone(call, handed);
    const lease_expires_at = one.locked_until.toISOString();
    return { job: showOpenQueueJob(one), lease_token: one.lease_token, lease_expires_at };
  },
);

export const ack = route(
  {
    ...act,
    at: "POST /jobs/{id}/ack",
    id: "openQueueAck",
    summary: "Acknowledge a job",
    description: `A result may have ${limits.result_bytes_max} bytes of JSON. The same ack again changes nothing and gets the same answer.`,
    request: { path: jobPath, body: { schema: openQueueAck, example: { lease_token, result: { sent: true } } } },
    answers: settled("It has succeeded.", "completed"),
  },
  async ({ deps, tenant, path: { id }, body: { result, ...held }, bytes }) => {
    requireSmall(result, "/result", bytes, limits.result_bytes_max);
    const { acks } = await settleRemote(deps, tenant, [{ id, lease_token: tokenOf(held), result }], []);
    return show(id, acks, "completed");
  },
);

export const nack = route(
  {
    ...act,
    at: "POST /jobs/{id}/nack",
    id: "openQueueNack",
    summary: "Report a failed attempt",
    description: "It is retried after a delay that doubles, up to 300 s, or is dead after its last retry.",
    request: {
      path: jobPath,
      body: {
        schema: openQueueNack,
        example: { lease_token, error: "no such customer" },
        // One error, as far as it is kept: a job that cannot be given back would be lost.
        bytes_max: limits.error_body_bytes_max,
      },
    },
    answers: settled("It waits for its retry, or is dead.", "failed_or_requeued"),
  },
  async ({ deps, tenant, path: { id }, body: { error, retry, ...held } }) => {
    const nacks = [{ id, lease_token: tokenOf(held), error, retry }];
    const outcomes = await settleRemote({ ...deps, backoff: openQueueBackoff }, tenant, [], nacks);
    return show(id, outcomes.nacks, "failed_or_requeued");
  },
);

export const heartbeat = route(
  {
    ...act,
    at: "POST /jobs/{id}/heartbeat",
    id: "openQueueHeartbeat",
    summary: "Extend a lease (heartbeat)",
    request: { path: jobPath, body: { schema: openQueueHeartbeat, example: { lease_token, lease_seconds: 60 } } },
    answers: settled("It is held for longer.", "lease_extended"),
  },
  async ({ deps, tenant, path: { id }, body: { lease_seconds, ...held } }) => {
    const outcome = await extend(deps, tenant, { id, lease_token: tokenOf(held), lease_seconds });
    return outcome.kind === "extended" ? { job_id: id, status: "lease_extended" } : refused(outcome);
  },
);

/** A UUID that no lease ever has. */
const nobodys = "00000000-0000-0000-0000-000000000000";

/** What cannot be a token holds no lease: 409, or 404 if the job is unknown, as for any wrong token. */
function tokenOf(held: { lease_token: string }): string {
  return isUuid(held.lease_token) ? held.lease_token : nobodys;
}

function show(job_id: string, [outcome]: readonly RemoteOutcome[], status: Status): OpenQueueSettled {
  requireHeld(outcome);
  return { job_id, status };
}
