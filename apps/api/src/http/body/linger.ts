import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { limits } from "@atlasqueue/contract";

/** How long we keep listening to a client that is still sending after its answer. */
const linger_ms_max = 500;

/**
 * For an answer with `Connection: close` to a client that is still sending: Node would close the socket with unread
 * bytes in it, which resets the connection, and the client might never get to read the answer. So end our side, and
 * discard what arrives for a moment.
 */
export function lingerAfterAnswer(incoming: IncomingMessage): void {
  const { socket } = incoming;
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), linger_ms_max);
    socket.once("close", () => clearTimeout(timer));
  };
  incoming.resume();
}

/** What may follow an answer of the body that it was not for: more than any body may have. */
const discarded_bytes_max = 2 * limits.body_bytes_max;
const look_ms = 20;

/**
 * Disconnect who goes on sending a body without an end after it was answered: what comes is read and thrown away, which
 * keeps the loop from those who are answered. Returns how to leave it at that, once the request has come whole.
 *
 * @example
 * const stop = endWhatGoesOn(incoming.socket);
 */
export function endWhatGoesOn(socket: Socket): () => void {
  const read_before = socket.bytesRead;
  const looks = setInterval(() => {
    if (socket.bytesRead - read_before > discarded_bytes_max) socket.destroy();
  }, look_ms);
  return () => clearInterval(looks);
}
