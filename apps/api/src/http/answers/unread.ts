import { incomingOf, type ApiContext } from "../context.ts";
import type { Gate } from "../gate.ts";
import { holderOf } from "../input/holder.ts";

/** Up to this size an answer is no larger than what the system buffers for its connection anyway. */
const small_chars_max = 65_536;

/**
 * Count a large answer among those that wait to be read, until it is on its way or the caller has hung up: otherwise
 * callers who ask for pages and never read them would fill the memory. Throws `NoRoomError` when there is no room for
 * it, or its tenant has used its share; not for what is `done` and stays done, as its caller would not be told: that is
 * refused before it begins, once its tenant's share is used up.
 *
 * @example
 * holdUntilRead(c, unread, text.length, { done: false });
 */
export function holdUntilRead(c: ApiContext, unread: Gate, chars: number, { done }: { done: boolean }): void {
  const incoming = incomingOf(c);
  const { outgoing } = c.env ?? {};
  if (chars <= small_chars_max || !incoming || !outgoing || outgoing.destroyed || incoming.socket.destroyed) return;
  const { socket } = incoming;
  const room = unread.meter(holderOf(c));
  if (done) room.addAnyway(chars);
  else room.add(chars);
  // An answer that waits behind another one's on its connection does not hear of the connection's end.
  const leave = () => {
    outgoing.off("close", leave);
    socket.off("close", leave);
    room.release();
  };
  outgoing.once("close", leave);
  socket.once("close", leave);
}
