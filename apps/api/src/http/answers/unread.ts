import { NoRoomError } from "@atlasqueue/core/internal";
import { incomingOf, type ApiContext, type Undelivered } from "../context.ts";
import type { Gate } from "../gate.ts";
import { holderOf } from "../input/holder.ts";
import { unavailable } from "./problem.ts";

/** As much as an act's answer takes: a job with a payload and a result of 256 KiB each, and the rest of it. */
const act_bytes_max = 1_500_000;

/** Before an act: its tenant must have room for the answer, which cannot be refused once it is done. */
export function requireUnreadShare(c: ApiContext, unread: Gate): void {
  unread.requireShare(holderOf(c), act_bytes_max);
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
export function holdUntilRead(c: ApiContext, unread: Gate, undelivered: Undelivered): void {
  const bytes = c.get("unread_bytes");
  if (bytes === undefined) return;
  const incoming = incomingOf(c);
  const { outgoing } = c.env ?? {};
  if (!incoming || !outgoing || outgoing.destroyed || incoming.socket.destroyed) return;
  const { socket } = incoming;
  const room = unread.meter(holderOf(c));
  try {
    room.add(bytes);
  } catch (error) {
    if (undelivered !== "stays_done" || !(error instanceof NoRoomError)) throw error;
    throw unavailable(`It was done, but there is no room to answer it. ${error.message}`, true);
  }
  // An answer that waits behind another one's on its connection does not hear of the connection's end.
  const leave = () => {
    outgoing.off("close", leave);
    socket.off("close", leave);
    room.release();
  };
  outgoing.once("close", leave);
  socket.once("close", leave);
}
