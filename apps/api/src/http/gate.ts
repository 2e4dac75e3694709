import { createShares } from "@atlasqueue/contract";
import { takeOrThrow } from "@atlasqueue/core/internal";

/** Whether a request may use the places that are kept: `first`, what a lease hangs on, or `rest`. */
export type Kind = "first" | "rest";

export type Gate = {
  /**
   * Run `work` while counting it among its holder's. Rejects with `NoRoomError` when all places are taken, or the holder
   * has used its share of them.
   */
  hold<T>(holder: string, work: () => T | Promise<T>, of?: Kind): Promise<T>;
};

/**
 * Far more than the database gets at once in good times. Half of the places are for what a lease hangs on: while the
 * database is away, the renewals of all jobs that are held may wait here.
 */
const requests_max = 4_000;
const kept = requests_max / 2;

/** Each search keeps a connection busy reading payloads. */
export const searches_max = 4;

/**
 * Bounds the requests in flight. Each holder, usually a tenant, has a share (see `createShares`): a tenant whose other
 * requests take all they can still has three quarters of the places that are kept. `what`, in the plural, is for errors.
 *
 * @example
 * const gate = createGate();
 * await gate.hold(tenant, () => cancel(job), "rest");
 */
export function createGate(limits = { requests_max, kept }, what = "requests in flight"): Gate {
  const all = createShares(limits.requests_max);
  const rest = createShares(limits.requests_max - limits.kept);
  const take = (holder: string, of: Kind) => {
    if (of === "rest") takeOrThrow(rest, holder, 1, what);
    try {
      takeOrThrow(all, holder, 1, what);
    } catch (error) {
      if (of === "rest") rest.give(holder, 1);
      throw error;
    }
  };
  return {
    async hold(holder, work, of = "rest") {
      take(holder, of);
      try {
        return await work();
      } finally {
        all.give(holder, 1);
        if (of === "rest") rest.give(holder, 1);
      }
    },
  };
}
