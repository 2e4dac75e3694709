import { bounded } from "../database/bounded.ts";
import { unsynced } from "../database/unsynced.ts";
import type { Deps } from "../deps.ts";
import type { Lease } from "./claim.ts";
import { holdsLease, leaseRows } from "./lease-rows.ts";

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
  const { sql } = deps.database;
  const kept = await bounded(
    deps.database,
    sql<{ id: string }[]>`
    UPDATE jobs SET locked_until = now() + make_interval(secs => ${lease_seconds}::float8)
    FROM ${leaseRows(deps.database, leases)}
    WHERE ${holdsLease(deps.database, leases)} AND ${unsynced(deps.database)}
    RETURNING jobs.id`,
  );
  const ids = new Set(kept.map((row) => row.id));
  return leases.filter((lease) => !ids.has(lease.id));
}
