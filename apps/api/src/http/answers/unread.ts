import { NoRoomError } from "@atlasqueue/core/internal";
import { incomingOf, type ApiContext, type Undelivered } from "../context.ts";
import { holderOf } from "../input/holder.ts";
import { whenClosed } from "../when-closed.ts";
import { small_chars_max } from "./note-unread.ts";
import { unavailable } from "./problem.ts";
import type { UnreadRoom } from "./unread-room.ts";

/** What each byte of an answer takes at most: itself, and the text's. */
const bytes_each = 2;

/**
 * Before an act: its tenant must have room for the answer, which cannot be refused once it is done. One that is small
 * takes none.
 */
export function requireUnreadShare(c: ApiContext, unread: UnreadRoom, answer_bytes_max: number): void {
  if (answer_bytes_max > small_chars_max) unread.requireShare(holderOf(c), answer_bytes_max * bytes_each);
}

/**
 * Count an answer that is not small among those that wait to be read, until it is on its way or the caller has hung up:
 * otherwise callers who ask for pages and never read them would fill the memory. Throws `NoRoomError` when there is no
 * room for it, or its tenant has used its share. Whoever asked for what is done and stays done is told that it may be:
 * thousands of acts can have found room at once, before the first was answered.
 *
 * @example
 * const answer = answerJson(c, 200, page);
 * holdUntilRead(c, unread, "nothing_done");
 */
export function holdUntilRead(c: ApiContext, unread: UnreadRoom, undelivered: Undelivered): void {
  const bytes = c.get("unread_bytes");
  if (bytes === undefined) return;
  const incoming = incomingOf(c);
  const { outgoing } = c.env ?? {};
  if (!incoming || !outgoing || outgoing.destroyed || incoming.socket.destroyed) return;
  const { socket } = incoming;
  const holder = holderOf(c);
  const of = undelivered === "nothing_done" ? "read" : "act";
  try {
    unread.take(holder, bytes, of);
  } catch (error) {
    if (undelivered !== "stays_done" || !(error instanceof NoRoomError)) throw error;
    throw unavailable(`It was done, but there is no room to answer it. ${error.message}`, true);
  }
  // An answer that waits behind another one's on its connection does not hear of the connection's end.
  whenClosed([outgoing, socket], () => unread.give(holder, bytes, of));
}
