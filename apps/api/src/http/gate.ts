import { createShares } from "@atlasqueue/contract";
import { takeOrThrow, withinHeap } from "@atlasqueue/core/internal/http";

/** `first`: a request that keeps or ends a lease, for which places are reserved. `rest`: all others. */
export type Kind = "first" | "rest";

export type Gate = {
  /**
   * Run `work` in a place of its holder. Rejects with `NoRoomError` when all places are taken, or the holder has used its
   * share of them. Without `counts` it takes no place, other than for a large body.
   */
  hold<T>(holder: string, work: (weigh: Weigh) => T | Promise<T>, of?: Kind, counts?: boolean): Promise<T>;
};

/** A body of so many bytes was read: a large one takes places too. Throws `NoRoomError`, as `hold` rejects. */
export type Weigh = (bytes: number) => void;

/**
 * Far more than the database gets at once in good times. Half of the places are reserved for requests that keep or end a
 * lease: during an outage of the database, the renewals of all running jobs may wait here.
 */
const places_max = 4_000;
const places = { requests_max: places_max, kept: places_max / 2 };

/** What of a body takes another place: 64 KiB, fewer with a small heap. */
const place_bytes = withinHeap(256 * 1_048_576, { part: 4 }) / places_max;

/** Each search keeps a connection busy reading payloads. */
export const searches_max = 4;

/**
 * Bounds the requests in flight, and the memory of their bodies. Each holder, usually a tenant, has a share (see
 * `createShares`). A tenant that fills its share with other requests still gets three quarters of the reserved places.
 * `what` names the bounded things in errors, in the plural.
 *
 * @example
 * const gate = createGate();
 * await gate.hold(tenant, () => cancel(job), "rest");
 */
export function createGate({ requests_max, kept }: typeof places = places, what = "requests in flight"): Gate {
  const all = createShares(requests_max);
  const rest = createShares(requests_max - kept);
  return {
    async hold(holder, work, of = "rest", counts = true) {
      let [taken, of_rest] = [0, 0];
      const take = (amount: number) => {
        if (of === "rest") {
          takeOrThrow(rest, holder, amount, what);
          of_rest += amount;
        }
        takeOrThrow(all, holder, amount, what);
        taken += amount;
      };
      try {
        if (counts) take(1);
        return await work((bytes) => bytes >= place_bytes && take(Math.floor(bytes / place_bytes)));
      } finally {
        all.give(holder, taken);
        rest.give(holder, of_rest);
      }
    },
  };
}
