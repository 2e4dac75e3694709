import { createShares } from "@atlasqueue/contract";
import { takeOrThrow, withinHeap } from "@atlasqueue/core/internal/http";

/** `first`: a request that keeps or ends a lease, for which places are reserved. `rest`: all others. */
export type Kind = "first" | "rest";

export type Gate = {
  /**
   * Run `work` while counting it among its holder's. Rejects with `NoRoomError` when all places are taken, or the holder
   * has used its share of them.
   */
  hold<T>(holder: string, work: () => T | Promise<T>, of?: Kind): Promise<T>;
  /** Memory of one request. Release it when the request is answered. */
  memory(holder: string, of?: Kind): Memory;
};

export type Memory = {
  /** Rejects with `NoRoomError`, as `hold` does. */
  add(bytes: number): void;
  release(): void;
};

/**
 * Far more than the database gets at once in good times. Half of the places are reserved for requests that keep or end a
 * lease: during an outage of the database, the renewals of all running jobs may wait here.
 */
const requests_max = 4_000;
const requests_kept = requests_max / 2;

/** What bodies take together: as they came, and parsed. */
const bytes_max = withinHeap(256 * 1_048_576, { part: 4 });

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
export function createGate(limits: Limits = { requests_max, kept: requests_kept }, what = "requests in flight"): Gate {
  const requests = createKept(limits.requests_max, limits.kept, what);
  const bytes = createKept(limits.bytes_max ?? bytes_max, (limits.bytes_max ?? bytes_max) / 4, `bytes of ${what}`);
  return {
    async hold(holder, work, of = "rest") {
      requests.take(holder, 1, of);
      try {
        return await work();
      } finally {
        requests.give(holder, 1, of);
      }
    },
    memory(holder, of = "rest") {
      let taken = 0;
      return {
        add(amount) {
          bytes.take(holder, amount, of);
          taken += amount;
        },
        release() {
          bytes.give(holder, taken, of);
          taken = 0;
        },
      };
    },
  };
}

type Limits = { requests_max: number; kept: number; bytes_max?: number };

/** Shares of which `rest` leaves `kept` to what comes first. */
function createKept(max: number, kept: number, what: string) {
  const all = createShares(max);
  const rest = createShares(max - kept);
  return {
    take(holder: string, amount: number, of: Kind): void {
      if (of === "rest") takeOrThrow(rest, holder, amount, what);
      try {
        takeOrThrow(all, holder, amount, what);
      } catch (error) {
        if (of === "rest") rest.give(holder, amount);
        throw error;
      }
    },
    give(holder: string, amount: number, of: Kind): void {
      all.give(holder, amount);
      if (of === "rest") rest.give(holder, amount);
    },
  };
}
