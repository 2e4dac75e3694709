import type { Met } from "../../database/skip-locked.ts";

/** Those who lock a tenant's jobs may be gone by then: claims wait again, as that is cheaper when nothing is locked. */
const lately_ms = 5_000;
const places_max = 10_000;
/** In place of a holder's number: none has had the row since it was written. */
const nobody = "0";

/** A queue, and the number of the transaction that had its row locked when we looked, or the last one before. */
export type WithHolder = { queue: string; holder: string | null };

/** Where the claims of a process have waited in vain for somebody's open transaction: the next ones do not. */
export type LocksMet = {
  /** Locks on jobs of a tenant, of whatever queue. */
  jobsOf(tenant: string): Met;
  /** The queues whose rows were waited for before, and which the same transaction has now, unless it has just ended. */
  stillHeld(tenant: string, queues: readonly WithHolder[]): readonly WithHolder[];
  /** `had` are those of the queues whose rows could be locked. */
  noteHeld(tenant: string, queues: readonly WithHolder[], had: readonly { queue: string }[]): void;
};

/**
 * For one process. A queue's row is waited for again as soon as it has another holder: mostly that is a claim of ours,
 * which gives it up at once.
 *
 * @example
 * const locks = createLocksMet();
 * await claim(deps, ids, { ...claimer, locks });
 */
export function createLocksMet(now: () => number = () => performance.now()): LocksMet {
  const met_at = new Map<string, number>();
  const holders = new Map<string, string>();
  return {
    jobsOf: (tenant) => ({
      lately: () => now() - (met_at.get(tenant) ?? -Infinity) < lately_ms,
      note: () => put(met_at, tenant, now()),
    }),
    stillHeld: (tenant, queues) => queues.filter(({ queue, holder }) => holders.get(`${tenant} ${queue}`) === holder),
    noteHeld(tenant, queues, had) {
      if (had.length === queues.length) return;
      const names = new Set(had.map(({ queue }) => queue));
      for (const { queue, holder } of queues)
        if (!names.has(queue) && holder !== null && holder !== nobody) put(holders, `${tenant} ${queue}`, holder);
    },
  };
}

function put<T>(places: Map<string, T>, name: string, value: T): void {
  if (places.size >= places_max) places.clear();
  places.set(name, value);
}
