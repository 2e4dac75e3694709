import { executeOn } from "../database/statement.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "./claim.ts";
import { holdsLease, leaseParams } from "./lease-rows.ts";

/**
 * running → running, until now + `lease_seconds`: the heartbeat of every job a worker runs, in one statement. A lease
 * that ran out but that nobody recovered yet is still the holder's. Returns the leases that are not held: lost, unless
 * the caller settled them itself meanwhile, so it is the caller who tells.
 *
 * @example
 * for (const lost of await extendLeases(deps, running, 30)) abort(lost.id);
 */
export async function extendLeases<L extends Lease>(
  deps: Deps,
  leases: readonly L[],
  lease_seconds: number,
): Promise<L[]> {
  if (leases.length === 0) return [];
  const kept = await executeOn(deps.database)<{ id: string }>({
    text: renew,
    params: [...leaseParams(leases), lease_seconds],
  });
  const ids = new Set(kept.map((row) => row.id));
  return leases.filter((lease) => !ids.has(lease.id));
}

const renew = `
  UPDATE jobs SET locked_until = now() + make_interval(secs => $4::float8)
  WHERE ${holdsLease} AND ${unsynced}
  RETURNING jobs.id`;
