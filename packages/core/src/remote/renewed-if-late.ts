import { DatabaseTimeoutError } from "../database/errors.ts";
import type { Deps } from "../deps.ts";
import type { HandedJob, LeasedJob } from "../lease/lease.ts";
import { isLate, renewLate } from "../lease/renew-late.ts";
import type { LeaseReturns } from "../lease/returns.ts";

/** If the database is slower than the leases are long, the jobs go back after this many renewals. */
const renewals_max = 3;

/** How long the leases are, and the token if it is of the caller's own. */
type Wanted = { lease_seconds: number; lease_token?: string | undefined };

/**
 * The jobs of a claim sent at `asked_at` that may be handed over: late ones are renewed first, and lost ones are not
 * handed over, as with our own workers (`start-jobs.ts`). To be asked again after whatever else is read for them. Throws
 * when nothing is left under a caller's own token: it is used up, and another claim under it would be refused.
 *
 * @example
 * const jobs = await renewedIfLate(deps, await claimJobs(deps, ids, claimer), claimer, asked_at);
 */
export async function renewedIfLate(
  deps: Deps & { returns: Pick<LeaseReturns, "giveBack"> },
  claimed: LeasedJob[],
  { lease_seconds, lease_token }: Wanted,
  asked_at: number,
): Promise<HandedJob[]> {
  const jobs = await renewed(deps, claimed, lease_seconds, asked_at);
  if (lease_token !== undefined && claimed.length > 0 && jobs.length === 0)
    throw new DatabaseTimeoutError(deps.database.timeout_ms);
  return jobs;
}

async function renewed(
  deps: Deps & { returns: Pick<LeaseReturns, "giveBack"> },
  claimed: LeasedJob[],
  lease_seconds: number,
  asked_at: number,
): Promise<HandedJob[]> {
  let jobs = claimed;
  let sent_at = asked_at;
  for (let renewal = 0; jobs.length > 0 && isLate(sent_at, lease_seconds) && renewal < renewals_max; renewal += 1) {
    sent_at = performance.now();
    const { held, locked_until } = await renewLate(deps, jobs, lease_seconds);
    jobs = locked_until ? held.map((job) => ({ ...job, locked_until })) : [];
  }
  if (!isLate(sent_at, lease_seconds)) return jobs.map((job) => ({ ...job, sent_at }));
  void deps.returns.giveBack(jobs);
  return [];
}
