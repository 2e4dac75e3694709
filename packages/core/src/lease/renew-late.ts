import type { Deps } from "../deps.ts";
import { extendLeases } from "./extend.ts";
import { aboutLease, type Lease } from "./lease.ts";
import type { LeaseReturns } from "./returns.ts";

/**
 * Whether leases asked for, or last renewed, at `since` (by this process's own clock) are a third of the way through.
 * The answer may have taken longer than the lease, and its jobs may be running elsewhere by now: they are renewed
 * before anything is done with them.
 */
export function isLate(since: number, lease_seconds: number, now = performance.now()): boolean {
  return now - since > (lease_seconds * 1_000) / 3;
}

/**
 * Renew the late leases of a claim. `held` may be used until `locked_until`; the lost ones are reported, and all others
 * go back with no attempt spent, which includes all of them when it throws.
 *
 * @example
 * if (isLate(asked_at, 30)) ({ held } = await renewLate(deps, leases, 30));
 */
export async function renewLate<L extends Lease>(
  deps: Deps & { returns: Pick<LeaseReturns, "giveBack"> },
  leases: L[],
  lease_seconds: number,
): Promise<{ held: L[]; locked_until: Date | undefined }> {
  try {
    const { lost, locked, locked_until } = await extendLeases(deps, leases, lease_seconds);
    for (const lease of lost) deps.observe({ event: "lease_lost", during: "start", ...aboutLease(lease) });
    void deps.returns.giveBack(locked);
    const gone = new Set([...lost, ...locked]);
    return { held: leases.filter((lease) => !gone.has(lease)), locked_until };
  } catch (error) {
    void deps.returns.giveBack(leases);
    throw error;
  }
}
