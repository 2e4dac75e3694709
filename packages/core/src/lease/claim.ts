import type { Deps } from "../deps.ts";
import { claimByIds } from "./claim/by-ids.ts";
import { claimOldest } from "./claim/oldest.ts";
import type { Claimer, Lease, LeasedJob } from "./lease.ts";
import type { Width } from "./take-leases.ts";

/**
 * queued → running, for ids handed out by the signal. One statement by primary key; ids that are junk, taken, finished
 * or from a queue not served are left out of the answer, as is what exceeds `claim_bytes_max`. Leases are in the order
 * of the ids. In place of jobs of limited queues that another transaction has locked, the oldest of their queues go.
 *
 * @example
 * const leases = await claim(deps, ["0192…"], { tenant: "default", queues: ["default"], worker_id, lease_seconds: 30 });
 */
export async function claim(deps: Deps, ids: readonly string[], claimer: Claimer): Promise<Lease[]> {
  return claimByIds<Lease>(deps, ids, claimer, widthFor(deps));
}

/**
 * queued → running, without a signal: the oldest of the highest priority. Scans the index of ready jobs, so it is for
 * times when Redis is away. Concurrent claims skip each other's rows.
 */
export async function claimReady(deps: Deps, jobs_max: number, claimer: Claimer): Promise<Lease[]> {
  return claimOldest<Lease>(deps, jobs_max, claimer, widthFor(deps));
}

/** Where nothing is traced, no one pays for it. */
const widthFor = ({ tracing }: Deps): Width => (tracing?.on() ? "traced" : "lease");

/** `claim`, or `claimReady` when given a number, returning the whole jobs from the same statement. */
export function claimJobs(deps: Deps, which: readonly string[] | number, claimer: Claimer): Promise<LeasedJob[]> {
  return typeof which === "number"
    ? claimOldest<LeasedJob>(deps, which, claimer, "whole")
    : claimByIds<LeasedJob>(deps, which, claimer, "whole");
}
