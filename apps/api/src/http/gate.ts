import { createShares } from "@atlasqueue/contract";
import { takeOrThrow, withinHeap } from "@atlasqueue/core/internal/http";

/** `first`: a request that keeps or ends a lease, for which places are reserved. `rest`: all others. */
export type Kind = "first" | "rest";

export type Gate = {
  /**
   * Run `work` while it has places of its holder. Rejects with `NoRoomError` when all places are taken, or the holder
   * has used its share of them.
   */
  hold<T>(holder: string, work: () => T | Promise<T>, what?: { of?: Kind; places?: number }): Promise<T>;
};

/** How much of a body goes with a place. */
const place_bytes = 65_536;

/**
 * Far more than the database gets at once in good times, and a quarter of a small heap. Half of the places are reserved
 * for requests that keep or end a lease: during an outage of the database, the renewals of all running jobs may wait here.
 */
const places_max = withinHeap(4_000, { part: 4, bytes_each: place_bytes });

/** Each search keeps a connection busy reading payloads. */
export const searches_max = 4;

/** How many places a request takes: one, and more with a large body. */
export const placesFor = (body_bytes: number): number => 1 + Math.floor(body_bytes / place_bytes);

/**
 * Bounds the requests in flight, and with them the memory of their bodies. Each holder, usually a tenant, has a share (see
 * `createShares`). A tenant that fills its share with other requests still gets three quarters of the reserved places.
 * `what` names the bounded things in errors, in the plural.
 *
 * @example
 * const gate = createGate();
 * await gate.hold(tenant, () => cancel(job));
 */
export function createGate(
  limits: { requests_max: number; kept: number } = { requests_max: places_max, kept: places_max / 2 },
  what = "requests in flight",
): Gate {
  const all = createShares(limits.requests_max);
  const rest = createShares(limits.requests_max - limits.kept);
  const take = (holder: string, places: number, of: Kind): void => {
    if (of === "rest") takeOrThrow(rest, holder, places, what);
    try {
      takeOrThrow(all, holder, places, what);
    } catch (error) {
      if (of === "rest") rest.give(holder, places);
      throw error;
    }
  };
  return {
    async hold(holder, work, { of = "rest", places = 1 } = {}) {
      take(holder, places, of);
      try {
        return await work();
      } finally {
        all.give(holder, places);
        if (of === "rest") rest.give(holder, places);
      }
    },
  };
}
