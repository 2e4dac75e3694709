import { createShares } from "@atlasqueue/contract";
import { takeOrThrow, withinHeap } from "@atlasqueue/core/internal";

type GateLimits = { requests_max: number; bytes_max: number };
export type Gate = {
  /**
   * Run `work` while counting it among its holder's; `bytes` is what it keeps in memory meanwhile. Rejects with
   * `NoRoomError` when there is no room, or the holder has used its share.
   */
  hold<T>(holder: string, bytes: number, work: () => Promise<T>): Promise<T>;
  /** The same when the size is not known beforehand: count bytes as they come, and release them all at the end. */
  meter(holder: string): Meter;
};

type Meter = {
  add(bytes: number): void;
  release(): void;
};

/** Far more than the database gets at once in good times; what may pile up while it is away. */
const defaultGateLimits: GateLimits = { requests_max: 2_000, bytes_max: withinHeap(256 * 1_048_576, { part: 4 }) };

/** Bodies on their way: otherwise slow clients would fill the memory with what nothing has looked at yet. */
export const bodyLimits: GateLimits = { requests_max: 2_000, bytes_max: withinHeap(256 * 1_048_576, { part: 4 }) };

/** Each keeps a connection busy reading payloads. */
export const searchLimits: GateLimits = { requests_max: 4, bytes_max: 0 };

type Words = { requests: string; bytes: string };
const waiting: Words = {
  requests: "requests that wait for the database",
  bytes: "bytes of requests that wait for the database",
};
export const arriving: Words = { requests: "bodies that are arriving", bytes: "bytes of bodies that are arriving" };

export const searching: Words = { requests: "searches under way", bytes: "bytes of searches" };

/**
 * Bounds the requests waiting for something, by default the database, as each one keeps its body in memory. Each
 * holder, usually a tenant, has a share.
 */
export function createGate(limits: GateLimits = defaultGateLimits, what: Words = waiting): Gate {
  const requests = createShares(limits.requests_max);
  const room = createShares(limits.bytes_max);
  return {
    meter(holder) {
      let counted = 0;
      return {
        add(bytes) {
          takeOrThrow(room, holder, bytes, what.bytes);
          counted += bytes;
        },
        release() {
          room.give(holder, counted);
          counted = 0;
        },
      };
    },
    async hold(holder, bytes, work) {
      takeOrThrow(requests, holder, 1, what.requests);
      try {
        takeOrThrow(room, holder, bytes, what.bytes);
        try {
          return await work();
        } finally {
          room.give(holder, bytes);
        }
      } finally {
        requests.give(holder, 1);
      }
    },
  };
}
