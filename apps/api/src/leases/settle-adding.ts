import { childrenFaults, refusalFaults } from "@atlasqueue/core/internal";
import { ackWithChildren, findJob, type Ack, type RemoteOutcome, type Spawned } from "@atlasqueue/core/internal/http";
import { invalid } from "../http/answers/problem.ts";
import { admitJobs } from "../jobs/admit-jobs.ts";
import { conflicts } from "../jobs/batch-refusals.ts";
import type { RouteDeps } from "../route/deps.ts";

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
  // An ack sent again adds nothing, so it must be answered however full it is by now.
  const job = await findJob(deps, tenant, ack.id);
  if (job?.status === "running") await admitJobs(deps, { tenant, bytes }, children, (at) => `/children/${at}`);
  const outcome = await ackWithChildren(deps, tenant, ack, spawned);
  if (typeof outcome !== "object") return outcome;
  const why = refusalFaults(outcome, (at) => `/children/${at}`);
  throw outcome.kind === "conflict" ? conflicts(why) : invalid(why);
}
