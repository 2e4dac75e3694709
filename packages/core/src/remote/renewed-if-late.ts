import type { Deps } from "../deps.ts";
import type { LeasedJob } from "../lease/lease.ts";
import { isLate, renewLate } from "../lease/renew-late.ts";
import type { LeaseReturns } from "../lease/returns.ts";

/** If the database is slower than the leases are long, the jobs go back after this many renewals. */
const renewals_max = 3;

/**
 * The jobs of a claim sent at `asked_at` that may be handed over: late ones are renewed first, and lost ones are not
 * handed over, as with our own workers (`start-jobs.ts`).
 *
 * @example
 * const jobs = await renewedIfLate(deps, await claimJobs(deps, ids, claimer), claimer.lease_seconds, asked_at);
 */
export async function renewedIfLate(
  deps: Deps & { returns: Pick<LeaseReturns, "giveBack"> },
  claimed: LeasedJob[],
  lease_seconds: number,
  asked_at: number,
): Promise<LeasedJob[]> {
  let jobs = claimed;
  let sent_at = asked_at;
  for (let renewal = 0; jobs.length > 0 && isLate(sent_at, lease_seconds) && renewal < renewals_max; renewal += 1) {
    sent_at = performance.now();
    const { held, locked_until } = await renewLate(deps, jobs, lease_seconds);
    jobs = locked_until ? held.map((job) => ({ ...job, locked_until })) : [];
  }
  if (!isLate(sent_at, lease_seconds)) return jobs;
  void deps.returns.giveBack(jobs);
  return [];
}
