import type { LeaseAnswer, ParentsOfJob } from "@atlasqueue/contract";
import { parentsOf } from "@atlasqueue/core/internal";
import {
  withPriority,
  findLeasedSteps,
  showJob,
  type Handed,
  type LeasedJob,
  type LeasedSteps,
  type LongPoll,
} from "@atlasqueue/core/internal/http";
import type { Delivery } from "../http/answers/delivery.ts";
import { exampleId, exampleJob, exampleLockedUntil, exampleParents, exampleToken } from "../route/examples.ts";
import type { RouteDeps } from "../route/deps.ts";

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
  const steps = await findLeasedSteps(own, tenant, withSteps);
  const parents = await parentsOf(own, tenant, leases);
  return leases.map((row) => showLease(row, steps.get(row.id) ?? noSteps, parents.get(row.id)));
}

/** For how long they are held, reckoned from when the request came: never too long, as it was sent before. */
export function holdsOf({ sent_at, remaining_ms, repeated }: Handed, came_at: number): Omit<LeaseAnswer, "jobs"> {
  return { waited_ms: Math.floor(Math.max(0, sent_at - came_at)), remaining_ms, repeated };
}

type Delivering = { tenant: string; longPoll: Pick<LongPoll, "release">; ifUndelivered: Delivery["ifUndelivered"] };

/** Jobs whose response nobody can ask for again are released if it does not reach the caller. */
export function releaseIfUndelivered(
  { longPoll, tenant, ifUndelivered }: Delivering,
  { jobs: [one] }: Handed,
  what: Parameters<Delivery["ifUndelivered"]>[1],
): void {
  if (one) ifUndelivered(() => longPoll.release(tenant, one.lease_token), what);
}

function showLease(
  row: LeasedJob,
  { steps, signals, complete }: LeasedSteps,
  parents: ParentsOfJob | undefined,
): ShownLease {
  const { lease_token, locked_until } = row;
  const held = { job: showJob(row), lease_token, locked_until: locked_until.toISOString() };
  return { ...held, steps, signals, steps_complete: complete, ...parents };
}
