import {
  limits,
  openQueueAck,
  openQueueHeartbeat,
  openQueueLeaseRequest,
  openQueueNack,
  type OpenQueueLease,
  type OpenQueueSettled,
} from "@atlasqueue/contract";
import { findJob, heartbeat, isUuid, settleRemote, type RemoteOutcome } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import { delivered } from "../http/answers/delivered.ts";
import { holderOf } from "../http/input/holder.ts";
import { hangUpOf } from "../http/input/hang-up.ts";
import { readJobId, readQueueName } from "../http/input/params.ts";
import { leaseLost, unknownJob } from "../http/answers/problem.ts";
import { readRequest, requireSmall } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";
import type { LeaseRouteDeps } from "../routes/leases.ts";
import { openQueueBackoff } from "./native.ts";
import { showOpenQueueJob } from "./words.ts";

/** What OpenQueue's workers do: lease one job at a time, ack, nack, heartbeat. */
export function openQueueLeaseRoutes(deps: LeaseRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  const settling = { ...deps, backoff: openQueueBackoff };
  // One error, as far as it is kept, fits whatever the operator says: a job that cannot be given back would be lost.
  const settle_bytes_max = Math.max(deps.body_bytes_max, limits.nack_body_bytes_min);

  routes.post("/queues/:queue/lease", requires("work"), async (c) => {
    const queue = readQueueName(c);
    const { value, bytes } = await readRequest(c, openQueueLeaseRequest, { bytes_max: deps.body_bytes_max });
    const call = { ...value, tenant: tenantOf(c), queue, jobs_max: 1, wait_ms: 0 };
    const lease = await deps.gate.hold(holderOf(c), bytes, () => leaseOne(deps, call, hangUpOf(c)));
    return answerJson(c, 200, lease);
  });

  routes.post("/jobs/:id/ack", requires("work"), async (c) => {
    const id = readJobId(c);
    const { value, bytes } = await readRequest(c, openQueueAck, { bytes_max: deps.body_bytes_max });
    requireSmall(value.result, "/result", bytes, limits.result_bytes_max);
    const ack = { id, lease_token: tokenOf(value), result: value.result };
    const { acks } = await deps.gate.hold(holderOf(c), bytes, () => settleRemote(settling, tenantOf(c), [ack], []));
    return answerSettled(c, id, acks, "completed");
  });

  routes.post("/jobs/:id/nack", requires("work"), async (c) => {
    const id = readJobId(c);
    const { value, bytes } = await readRequest(c, openQueueNack, { bytes_max: settle_bytes_max, error_at: 1 });
    const nack = { id, lease_token: tokenOf(value), error: value.error, retry: value.retry };
    const { nacks } = await deps.gate.hold(holderOf(c), bytes, () => settleRemote(settling, tenantOf(c), [], [nack]));
    return answerSettled(c, id, nacks, "failed_or_requeued");
  });

  routes.post("/jobs/:id/heartbeat", requires("work"), async (c) => {
    const id = readJobId(c);
    const { value, bytes } = await readRequest(c, openQueueHeartbeat, { bytes_max: deps.body_bytes_max });
    const beat = { id, lease_token: tokenOf(value), lease_seconds: value.lease_seconds };
    const { kind } = await deps.gate.hold(holderOf(c), bytes, () => heartbeat(deps, tenantOf(c), beat));
    if (kind === "unknown") return unknownJob();
    if (kind === "lease_lost") throw leaseLost();
    return answerJson(c, 200, { job_id: id, status: "lease_extended" } satisfies OpenQueueSettled);
  });

  return routes;
}

type LeaseCall = Parameters<LeaseRouteDeps["leaseDesk"]["lease"]>[0];

/** The next job, read once more by its key; none when it was cancelled in this moment. */
async function leaseOne(deps: LeaseRouteDeps, call: LeaseCall, gone: AbortSignal): Promise<OpenQueueLease> {
  const leases = await deps.leaseDesk.lease(call, gone);
  return delivered(deps.leaseDesk, leases, gone, async () => {
    const [lease] = leases;
    const row = lease && (await findJob(deps, call.tenant, lease.id));
    if (!row?.locked_until || row.lease_token !== lease?.lease_token) return null;
    const lease_expires_at = row.locked_until.toISOString();
    return { job: showOpenQueueJob(row), lease_token: lease.lease_token, lease_expires_at };
  });
}

/** A UUID that no lease is given. */
const nobodys = "00000000-0000-0000-0000-000000000000";

/** What cannot be a token holds no lease either: 409, or 404 where the job is unknown, as for any wrong one. */
function tokenOf({ lease_token }: { lease_token: string }): string {
  return isUuid(lease_token) ? lease_token : nobodys;
}

function answerSettled(
  c: ApiContext,
  job_id: string,
  [outcome]: readonly RemoteOutcome[],
  status: OpenQueueSettled["status"],
): Response {
  if (outcome === "not_found") return unknownJob();
  if (outcome === "lease_lost") throw leaseLost();
  return answerJson(c, 200, { job_id, status } satisfies OpenQueueSettled);
}
