import type { LeaseAnswer } from "@atlasqueue/contract";
import { parentsOf } from "@atlasqueue/core/internal";
import {
  withPriority,
  findLeasedSteps,
  showJob,
  type Handed,
  type LeasedJob,
  type LeasedSteps,
} from "@atlasqueue/core/internal/http";
import type { ApiContext } from "../http/context.ts";
import type { Call } from "../route/call.ts";
import { exampleId, exampleJob, exampleLockedUntil, exampleParents, exampleToken } from "../route/examples.ts";
import type { RouteDeps } from "../route/deps.ts";
import type { Stated } from "../route/operation.ts";

type ShownLease = LeaseAnswer["jobs"][number];

export const exampleLease: ShownLease = {
  job: { ...exampleJob, status: "running", attempts: 1, worker_id: "worker-1", flow_id: exampleId },
  lease_token: exampleToken,
  locked_until: exampleLockedUntil,
  steps: { charge: { charge_id: "ch_17" } },
  signals: {},
  steps_complete: true,
  ...exampleParents,
};

const noSteps: LeasedSteps = { steps: {}, signals: {}, complete: true };

/** Leases as a remote worker gets them: with what earlier attempts of their jobs have done, and what they waited for. */
export async function showLeases(deps: RouteDeps, tenant: string, leases: readonly LeasedJob[]): Promise<ShownLease[]> {
  // They are leased: what they wait for in the tenant's line is their own time.
  const own = { ...deps, database: withPriority(deps.database) };
  const withSteps = leases.filter(({ has_steps }) => has_steps).map(({ id }) => id);
  const stored = await findLeasedSteps(own, tenant, withSteps);
  const parents = await parentsOf(own, tenant, leases);
  return leases.map((row): ShownLease => {
    const { steps, signals, complete } = stored.get(row.id) ?? noSteps;
    const held = { job: showJob(row), lease_token: row.lease_token, locked_until: row.locked_until.toISOString() };
    return { ...held, steps, signals, steps_complete: complete, ...parents.get(row.id) };
  });
}

/** For how long they are held, reckoned from when the request came: never too long, as it was sent before. */
export function holdsOf({ sent_at, remaining_ms, repeated }: Handed, came_at: number): Omit<LeaseAnswer, "jobs"> {
  return { waited_ms: Math.floor(Math.max(0, sent_at - came_at)), remaining_ms, repeated };
}

type Handing = Pick<Call<Stated>, "deps" | "context" | "hungUp"> & { tenant: string };

/** Releases jobs whose caller hung up before the response, unless it can repeat the request under a token of its own. */
export function releaseIfGone(call: Handing, { jobs: [one] }: Handed, own_token?: string): void {
  const { env } = call.context as { env?: ApiContext["env"] };
  // A request from within the app is not repeated.
  if (own_token !== undefined && env?.client_address === undefined) return;
  if (one && call.hungUp().aborted) call.deps.longPoll.release(call.tenant, one.lease_token);
}
