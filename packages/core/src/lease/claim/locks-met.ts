import type { Met } from "../../database/skip-locked.ts";

/** Those who lock a tenant's jobs may be gone by then: claims wait again, as that is cheaper when nothing is locked. */
const lately_ms = 5_000;
const places_max = 10_000;
/** Where the claims of a process have waited in vain for somebody's open transaction: the next ones do not. */
export type LocksMet = {
  /** Locks on jobs of a tenant, of whatever queue. */
  jobsOf(tenant: string): Met;
};

/**
 * For one process.
 *
 * @example
 * const locks = createLocksMet();
 * await claim(deps, ids, { ...claimer, locks });
 */
export function createLocksMet(now: () => number = () => performance.now()): LocksMet {
  const met_at = new Map<string, number>();
  return {
    jobsOf: (tenant) => ({
      lately: () => now() - (met_at.get(tenant) ?? -Infinity) < lately_ms,
      note: () => put(met_at, tenant, now()),
    }),
  };
}

function put<T>(places: Map<string, T>, name: string, value: T): void {
  if (places.size >= places_max) places.clear();
  places.set(name, value);
}
