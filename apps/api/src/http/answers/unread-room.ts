import { createShares } from "@atlasqueue/contract";
import { NoRoomError, takeOrThrow, withinHeap } from "@atlasqueue/core/internal";

/** Room for large answers that nobody has read yet: otherwise slow readers would fill the memory. */
export type UnreadRoom = {
  /** Throws `NoRoomError` when there is no room for so many bytes, or the holder has used its share. */
  take(holder: string, bytes: number, of: "read" | "act"): void;
  give(holder: string, bytes: number, of: "read" | "act"): void;
  /** Throws `NoRoomError` for a holder that has used its share, but for so many bytes of an act's answer. */
  requireShare(holder: string, bytes: number): void;
};

/** What no read may take: whoever may only read, and reads nothing, must not stop the work of their tenant, or of others. */
const acts_part = 4;
const what = "bytes of answers that wait to be read";

/**
 * In shares of tenants. Reads have three quarters of it at most, also in shares.
 *
 * @example
 * const unread = createUnreadRoom();
 * unread.take(tenant, 200_000, "read");
 */
export function createUnreadRoom(bytes_max = withinHeap(256 * 1_048_576, { part: 4 })): UnreadRoom {
  const room = createShares(bytes_max);
  const reads = createShares(bytes_max - Math.ceil(bytes_max / acts_part));
  return {
    take(holder, bytes, of) {
      if (of === "read") takeOrThrow(reads, holder, bytes, what);
      try {
        takeOrThrow(room, holder, bytes, what);
      } catch (error) {
        if (of === "read") reads.give(holder, bytes);
        throw error;
      }
    },
    give(holder, bytes, of) {
      room.give(holder, bytes);
      if (of === "read") reads.give(holder, bytes);
    },
    requireShare(holder, bytes) {
      const taken = room.take(holder, bytes);
      if (taken === "taken") room.give(holder, bytes);
      if (taken === "share_full") throw new NoRoomError(what, true);
    },
  };
}
