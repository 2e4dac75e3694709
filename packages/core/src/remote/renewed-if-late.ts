import type { Deps } from "../deps.ts";
import { extendLeases } from "../lease/extend.ts";
import { aboutLease, type LeasedJob } from "../lease/lease.ts";
import type { LeaseReturns } from "../lease/returns.ts";

/** If the database is slower than the leases are long, the jobs go back after this many renewals. */
const renewals_max = 3;

/**
 * The jobs of a claim that may be handed over. `asked_at` is when it was sent, by this process's own clock: the answer
 * may have taken longer than the lease, and its jobs may be running elsewhere by now. So a lease a third of the way
 * through is renewed first, and a lost one is not handed over, as with our own workers (`start-jobs.ts`).
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
  const fresh_ms = (lease_seconds * 1_000) / 3;
  const isLate = (since: number): boolean => performance.now() - since > fresh_ms;
  let jobs = claimed;
  let sent_at = asked_at;
  try {
    for (let renewal = 0; jobs.length > 0 && isLate(sent_at) && renewal < renewals_max; renewal += 1) {
      sent_at = performance.now();
      jobs = await renewed(deps, jobs, lease_seconds);
    }
  } catch (error) {
    void deps.returns.giveBack(jobs);
    throw error;
  }
  if (!isLate(sent_at)) return jobs;
  void deps.returns.giveBack(jobs);
  return [];
}

async function renewed(
  deps: Deps & { returns: Pick<LeaseReturns, "giveBack"> },
  jobs: LeasedJob[],
  lease_seconds: number,
): Promise<LeasedJob[]> {
  const { lost, locked, locked_until } = await extendLeases(deps, jobs, lease_seconds);
  for (const job of lost) deps.observe({ event: "lease_lost", during: "start", ...aboutLease(job) });
  void deps.returns.giveBack(locked);
  const gone = new Set([...lost, ...locked]);
  return jobs.flatMap((job) => (gone.has(job) || !locked_until ? [] : { ...job, locked_until }));
}
