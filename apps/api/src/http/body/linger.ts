import type { IncomingMessage } from "node:http";

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
