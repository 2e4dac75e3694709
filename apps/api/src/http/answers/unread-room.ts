import { NoRoomError, withinHeap } from "@atlasqueue/core/internal";
import { createKeptRoom } from "../kept-room.ts";

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
const kindOf = (of: "read" | "act") => (of === "act" ? "first" : "rest");

/**
 * In shares of tenants. Reads have three quarters of it at most, also in shares.
 *
 * @example
 * const unread = createUnreadRoom();
 * unread.take(tenant, 200_000, "read");
 */
export function createUnreadRoom(bytes_max = withinHeap(256 * 1_048_576, { part: 4 })): UnreadRoom {
  const kept = Math.ceil(bytes_max / acts_part);
  const room = createKeptRoom(bytes_max, kept, "bytes of answers that wait to be read");
  return {
    take: (holder, bytes, of) => room.take(holder, bytes, kindOf(of)),
    give: (holder, bytes, of) => room.give(holder, bytes, kindOf(of)),
    requireShare(holder, bytes) {
      try {
        room.take(holder, bytes, "first");
        room.give(holder, bytes, "first");
      } catch (error) {
        if (!(error instanceof NoRoomError) || error.share) throw error;
      }
    },
  };
}
