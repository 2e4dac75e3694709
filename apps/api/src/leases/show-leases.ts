import type { LeaseAnswer, ParentsOfJob } from "@atlasqueue/contract";
import {
  ahead,
  findLeasedSteps,
  parentsOf,
  renewedIfLate,
  showJob,
  type HandedJob,
  type LeasedJob,
  type LeasedSteps,
} from "@atlasqueue/core/internal";
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

/**
 * Leases that are not late as a remote worker gets them: with what earlier attempts of their jobs have done, and what
 * they waited for. Those that become late while that is read are renewed, and lost ones left out.
 */
export async function showLeases(
  deps: RouteDeps,
  tenant: string,
  leases: HandedJob[],
  wanted: Parameters<typeof renewedIfLate>[2],
): Promise<ShownLease[]> {
  // They are leased: what they wait for in the tenant's line is their own time.
  const own = { ...deps, database: ahead(deps.database), returns: deps.longPoll.returns };
  const withSteps = leases.filter(({ has_steps }) => has_steps).map(({ id }) => id);
  const steps = await findLeasedSteps(own, tenant, withSteps);
  const parents = await parentsOf(own, tenant, leases);
  const held = await renewedIfLate(own, leases, wanted, heldFrom(leases));
  return held.map((row) => showLease(row, steps.get(row.id) ?? noSteps, parents.get(row.id)));
}

/** When the first of them was asked for; there is one. */
export const heldFrom = (leases: readonly HandedJob[]): number => Math.min(...leases.map(({ sent_at }) => sent_at));

function showLease(
  row: LeasedJob,
  { steps, signals, complete }: LeasedSteps,
  parents: ParentsOfJob | undefined,
): ShownLease {
  const { lease_token, locked_until } = row;
  const held = { job: showJob(row), lease_token, locked_until: locked_until.toISOString() };
  return { ...held, steps, signals, steps_complete: complete, ...parents };
}
