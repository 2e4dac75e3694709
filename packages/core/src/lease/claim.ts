import type { Deps } from "../deps.ts";
import { claimByIds } from "./claim/by-ids.ts";
import { claimOldest } from "./claim/oldest.ts";
import { wholeJob } from "./take-leases.ts";
import type { Claimer, Lease, LeasedJob } from "./lease.ts";

/**
 * queued → running, for ids handed out by the signal. One statement by primary key; ids that are junk, taken, finished
 * or from a queue not served are left out of the answer. Leases are in the order of the ids. Where another transaction has locked one, the oldest jobs that
 * are free go in their place.
 *
 * @example
 * const leases = await claim(deps, ["0192…"], { tenant: "default", queues: ["default"], worker_id, lease_seconds: 30 });
 */
export async function claim(deps: Deps, ids: readonly string[], claimer: Claimer): Promise<Lease[]> {
  return claimByIds(deps, ids, claimer);
}

/**
 * queued → running, without a signal: the oldest of the highest priority. Scans the index of ready jobs, so it is for
 * times when Redis is away. Concurrent claims skip each other's rows.
 */
export async function claimReady(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  return claimOldest(deps, jobs_max, claimer);
}

/** `claim`, or `claimReady` when given a number, returning the whole jobs from the same statement. */
export async function claimJobs(deps: Deps, which: readonly string[] | number, claimer: Claimer): Promise<LeasedJob[]> {
  const whole = { ...claimer, whole: true };
  const leases = await (typeof which === "number" ? claimOldest(deps, which, whole) : claimByIds(deps, which, whole));
  return leases.map(wholeJob);
}
