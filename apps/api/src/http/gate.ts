import { withinHeap } from "@atlasqueue/core/internal";
import { createKeptRoom, type Kind } from "./kept-room.ts";

/** `kept`: what of them is for those that come first; default: nothing. */
type GateLimits = { requests_max: number; bytes_max: number; kept?: { requests: number; bytes: number } };
export type Gate = {
  /**
   * Run `work` while counting it among its holder's; `bytes` is what it keeps in memory meanwhile. Rejects with
   * `NoRoomError` when there is no room, or the holder has used its share.
   */
  hold<T>(holder: string, bytes: number, work: () => Promise<T>, of?: Kind): Promise<T>;
  /** The same when the size is not known beforehand: count bytes as they come, and release them all at the end. */
  meter(holder: string, of?: Kind): Meter;
};

type Meter = {
  add(bytes: number): void;
  release(): void;
};

const bytes_max = withinHeap(256 * 1_048_576, { part: 4 });
/** For what a lease hangs on: results, errors and progress may be large. */
const bytes_kept = Math.ceil(bytes_max / 4);

/**
 * Far more than the database gets at once in good times; what may pile up while it is away. Half of the requests are for
 * what a lease hangs on: while the database is away, the renewals of all jobs that are held may wait here.
 */
const defaultGateLimits: GateLimits = { requests_max: 4_000, bytes_max, kept: { requests: 2_000, bytes: bytes_kept } };

/** Bodies on their way: otherwise slow clients would fill the memory with what nothing has looked at yet. */
export const bodyLimits: GateLimits = { requests_max: 2_000, bytes_max, kept: { requests: 0, bytes: bytes_kept } };

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
  const { kept = { requests: 0, bytes: 0 } } = limits;
  const requests = createKeptRoom(limits.requests_max, kept.requests, what.requests);
  const room = createKeptRoom(limits.bytes_max, kept.bytes, what.bytes);
  return {
    meter(holder, of = "rest") {
      let counted = 0;
      return {
        add(bytes) {
          room.take(holder, bytes, of);
          counted += bytes;
        },
        release() {
          room.give(holder, counted, of);
          counted = 0;
        },
      };
    },
    async hold(holder, bytes, work, of = "rest") {
      requests.take(holder, 1, of);
      try {
        room.take(holder, bytes, of);
        try {
          return await work();
        } finally {
          room.give(holder, bytes, of);
        }
      } finally {
        requests.give(holder, 1, of);
      }
    },
  };
}
