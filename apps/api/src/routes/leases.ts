import {
  ackRequest,
  heartbeatRequest,
  leaseRequest,
  limits,
  nackRequest,
  settleRequest,
  type HeartbeatAnswer,
  type LeaseAnswer,
  type SettleAnswer,
} from "@atlasqueue/contract";
import {
  findJob,
  heartbeat,
  settleRemote,
  showJob,
  type Ack,
  type LeaseDesk,
  type LeasedJob,
  type Nack,
  type RemoteOutcome,
  type RemoteSettlementDeps,
} from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { requires } from "../access/requires.ts";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import { delivered } from "../http/answers/delivered.ts";
import type { Gate } from "../http/gate.ts";
import { holderOf } from "../http/input/holder.ts";
import { hangUpOf } from "../http/input/hang-up.ts";
import { readJobId, readQueueName } from "../http/input/params.ts";
import { invalid, leaseLost, unknownJob } from "../http/answers/problem.ts";
import { readRequest, requireSmall } from "../http/body/request.ts";
import { tenantOf } from "../http/input/tenant.ts";

export type LeaseRouteDeps = RemoteSettlementDeps & { gate: Gate; leaseDesk: LeaseDesk; body_bytes_max: number };

/** What remote workers do: lease, ack, nack, heartbeat, settle. */
export function leaseRoutes(deps: LeaseRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  // One error, as far as it is kept, fits whatever the operator says: a job that cannot be given back would be lost.
  const settle_bytes_max = Math.max(deps.body_bytes_max, limits.nack_body_bytes_min);

  routes.post("/queues/:queue/lease", requires("work"), async (c) => {
    const queue = readQueueName(c);
    const { value } = await readRequest(c, leaseRequest, { bytes_max: deps.body_bytes_max });
    const { max_jobs, wait_seconds, ...claimer } = value;
    const tenant = tenantOf(c);
    const call = { ...claimer, tenant, queue, jobs_max: max_jobs, wait_ms: wait_seconds * 1_000 };
    const hungUp = hangUpOf(c);
    const leases = await deps.leaseDesk.lease(call, hungUp);
    const answer = () => answerJson(c, 200, { jobs: leases.map(showLease) } satisfies LeaseAnswer);
    return delivered(deps.leaseDesk, leases, hungUp, answer);
  });

  /** Settle one job and answer with it as it is then. */
  const settleOne = async (c: ApiContext, acks: Ack[], nacks: Nack[], bytes: number): Promise<Response> => {
    const tenant = tenantOf(c);
    const [settled, job] = await deps.gate.hold(holderOf(c), bytes, async () => {
      const outcomes = await settleRemote(deps, tenant, acks, nacks);
      const id = (acks[0] ?? nacks[0])?.id ?? "";
      return [outcomes.acks[0] ?? outcomes.nacks[0], await findJob(deps, tenant, id)];
    });
    if (settled === "not_found" || !job) return unknownJob();
    if (settled === "lease_lost") throw leaseLost();
    return answerJson(c, 200, showJob(job));
  };

  routes.post("/jobs/:id/ack", requires("work"), async (c) => {
    const id = readJobId(c);
    const { value, bytes } = await readRequest(c, ackRequest, { bytes_max: deps.body_bytes_max });
    requireSmall(value.result, "/result", bytes, limits.result_bytes_max);
    return settleOne(c, [{ id, ...value }], [], bytes);
  });

  routes.post("/jobs/:id/nack", requires("work"), async (c) => {
    const id = readJobId(c);
    const { value, bytes } = await readRequest(c, nackRequest, { bytes_max: settle_bytes_max, error_at: 1 });
    requireSmall(value.error_data, "/error_data", bytes, limits.error_data_bytes_max);
    return settleOne(c, [], [{ id, ...value }], bytes);
  });

  routes.post("/jobs/:id/heartbeat", requires("work"), async (c) => {
    const id = readJobId(c);
    const { value, bytes } = await readRequest(c, heartbeatRequest, { bytes_max: deps.body_bytes_max });
    requireSmall(value.progress, "/progress", bytes, limits.progress_bytes_max);
    const outcome = await deps.gate.hold(holderOf(c), bytes, () => heartbeat(deps, tenantOf(c), { id, ...value }));
    switch (outcome.kind) {
      case "extended":
        return answerJson(c, 200, { locked_until: outcome.locked_until.toISOString() } satisfies HeartbeatAnswer);
      case "lease_lost":
        throw leaseLost();
      case "unknown":
        return unknownJob();
      default:
        return outcome satisfies never;
    }
  });

  routes.post("/leases/settle", requires("work"), async (c) => {
    const { value, bytes } = await readRequest(c, settleRequest, { bytes_max: settle_bytes_max, error_at: 3 });
    const { acks, nacks } = value;
    requireDistinct(acks, nacks);
    acks.forEach(({ result }, at) => requireSmall(result, `/acks/${at}/result`, bytes, limits.result_bytes_max));
    nacks.forEach(({ error_data }, at) =>
      requireSmall(error_data, `/nacks/${at}/error_data`, bytes, limits.error_data_bytes_max),
    );
    const outcomes = await deps.gate.hold(holderOf(c), bytes, () => settleRemote(deps, tenantOf(c), acks, nacks));
    const show = (items: readonly { id: string }[], of: readonly RemoteOutcome[]) =>
      items.map(({ id }, at) => ({ id, outcome: of[at] as RemoteOutcome }));
    return answerJson(c, 200, {
      acks: show(acks, outcomes.acks),
      nacks: show(nacks, outcomes.nacks),
    } satisfies SettleAnswer);
  });

  return routes;
}

function showLease(row: LeasedJob): LeaseAnswer["jobs"][number] {
  const job = showJob(row);
  return { job, lease_token: row.lease_token, locked_until: row.locked_until.toISOString() };
}

/** A job settled twice in one request would have two outcomes. */
function requireDistinct(acks: readonly Ack[], nacks: readonly Nack[]): void {
  const seen = new Set<string>();
  const places = [
    ...acks.map(({ id }, at) => ({ id, pointer: `/acks/${at}/id` })),
    ...nacks.map(({ id }, at) => ({ id, pointer: `/nacks/${at}/id` })),
  ];
  const again = places.filter(({ id }) => seen.size === seen.add(id).size);
  if (again.length > 0)
    throw invalid(again.slice(0, 20).map(({ pointer }) => ({ pointer, message: "must not name a job again" })));
}
