import { createShares } from "@atlasqueue/contract";
import { takeOrThrow } from "@atlasqueue/core/internal";

/** For whom a part of the room is kept, and who leaves it to them. */
export type Kind = "first" | "rest";

export type KeptRoom = {
  /** Throws `NoRoomError` when there is no room for so much, or the holder has used its share. */
  take(holder: string, amount: number, of: Kind): void;
  give(holder: string, amount: number, of: Kind): void;
};

/**
 * Room in shares, of which the rest leaves so much to what comes first. A tenant whose own rest takes all it can still has
 * three quarters of what is kept; without any rest, what comes first has all of it. `what`, in the plural, is for errors.
 *
 * @example
 * const room = createKeptRoom(4_000, 2_000, "requests that wait for the database");
 * room.take(tenant, 1, "rest");
 */
export function createKeptRoom(max: number, kept: number, what: string): KeptRoom {
  const all = createShares(max);
  const rest = createShares(max - kept);
  return {
    take(holder, amount, of) {
      if (of === "rest") takeOrThrow(rest, holder, amount, what);
      try {
        takeOrThrow(all, holder, amount, what);
      } catch (error) {
        if (of === "rest") rest.give(holder, amount);
        throw error;
      }
    },
    give(holder, amount, of) {
      all.give(holder, amount);
      if (of === "rest") rest.give(holder, amount);
    },
  };
}
