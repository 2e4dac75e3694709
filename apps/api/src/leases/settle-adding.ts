import { limits, type Fault } from "@atlasqueue/contract";
import { childrenFaults, unknownParent, type SpawnRefusal } from "@atlasqueue/core/internal";
import {
  ackWithChildren,
  ahead,
  findJob,
  type Ack,
  type RemoteOutcome,
  type Spawned,
} from "@atlasqueue/core/internal/http";
import { invalid, type ProblemError } from "../http/answers/problem.ts";
import { requireSmall } from "../http/body/require-small.ts";
import { conflicts } from "../jobs/batch-refusals.ts";
import type { RouteDeps } from "../route/deps.ts";

const faults_max = 20;

/**
 * Settle a job together with the jobs it adds, which are checked and counted as a submission is.
 *
 * @example
 * const outcome = await settleAdding(deps, tenant, ack, { children, dependants_wait: true }, bytes);
 */
export async function settleAdding(
  deps: RouteDeps,
  tenant: string,
  ack: Ack,
  spawned: Spawned,
  bytes: number,
): Promise<RemoteOutcome> {
  const { children } = spawned;
  const faults = childrenFaults(children);
  if (faults.length > 0) throw invalid(faults);
  children.forEach(({ request }, at) =>
    requireSmall(request.payload, `/children/${at}/payload`, bytes, deps.payload_bytes_max),
  );
  // An ack sent again adds nothing, so it must be answered however full it is by now.
  if (await isRunning(deps, tenant, ack.id)) await admit(deps, tenant, children, bytes);
  const outcome = await ackWithChildren(deps, tenant, ack, spawned);
  if (typeof outcome === "object") throw refusalOf(outcome);
  return outcome;
}

/** Its row is not kept while the rest is done. */
async function isRunning(deps: RouteDeps, tenant: string, id: string): Promise<boolean> {
  const job = await findJob({ database: ahead(deps.database) }, tenant, id);
  return job?.status === "running";
}

async function admit(
  { queueBound, storageQuota }: RouteDeps,
  tenant: string,
  children: Spawned["children"],
  bytes: number,
): Promise<void> {
  await queueBound.admit(
    tenant,
    children.map(({ request }) => request.queue),
  );
  await storageQuota.admit(tenant, { bytes, jobs: children.length, keys: [] });
}

function refusalOf(refusal: SpawnRefusal): ProblemError {
  switch (refusal.kind) {
    case "conflict":
      return conflicts(refusal.places.map(({ at, job_id }) => ({ pointer: `/children/${at}`, job_id })));
    case "unknown_parents":
      return invalid(
        refusal.places.slice(0, faults_max).map(({ at, nth, id }): Fault => {
          return { pointer: `/children/${at}/depends_on/${nth}`, message: unknownParent(id) };
        }),
      );
    case "too_many_waits":
      return invalid([{ pointer: "/dependants_wait", message: tooManyWaits(refusal.dependants) }]);
    case "circle":
      return invalid([{ pointer: "/dependants_wait", message: inACircle(refusal.dependant) }]);
    case "too_many_to_tell":
      return invalid([{ pointer: "/dependants_wait", message: tooManyToTell }]);
    case "mismatch":
      throw new Error("children have no idempotency keys");
    default:
      return refusal satisfies never;
  }
}

const inACircle = (dependant: string) =>
  `must be false: the job ${dependant}, which would wait for the children, is one for which they wait`;
const tooManyToTell = "must be false: the children wait for too many jobs to tell whether these would wait for them";
const tooManyWaits = (dependants: number) =>
  `must be false: the ${dependants} jobs that wait for this one would wait for more than ${limits.flow_edges_max} jobs, each alone or all together`;
