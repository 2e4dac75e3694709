import { Server as NetServer, type Socket } from "node:net";
import type { Server, ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** With the response that Node sends on it now, which is the first of those that are asked for. */
export type Connection = Socket & { _httpMessage?: ServerResponse | null };

/** If no connection arrives for this long, Node has taken all that the system had accepted: closing would reset those. */
const quiet_ms = 50;
/** For requests that are on their way on idle connections. */
const requests_ms = 500;
const look_ms = 100;

/**
 * Closes a server without losing a request that is on its way. Once no more connections arrive, or a quarter of the time is
 * over, the port closes, and each answer says that it is the last on its connection. Half a second later idle connections
 * are closed. Resolves when nothing is connected. Cuts off the connections that are left at the deadline. A timer that is
 * late fires before Node reads what has arrived meanwhile, so each check waits for one more turn of the event loop.
 *
 * @example
 * const close = gracefulClose(server);
 * await close(10_000);
 */
export function gracefulClose(server: Server): (deadline_ms: number) => Promise<void> {
  const connected = new Set<Connection>();
  let connects = 0;
  server.on("connection", (socket) => {
    connects += 1;
    connected.add(socket);
    socket.once("close", () => connected.delete(socket));
  });
  const closeIdle = () => {
    server.closeIdleConnections();
    // Node counts one that has brought nothing as busy.
    for (const socket of connected) if (socket.bytesRead === 0) socket.destroy();
  };
  const allAccepted = async (ms_max: number): Promise<void> => {
    const until_ms = performance.now() + ms_max;
    for (let before = -1; before !== connects && performance.now() < until_ms;) {
      before = connects;
      await delay(quiet_ms).then(() => nextTurn());
    }
  };
  return async (deadline_ms) => {
    const cutOff = setTimeout(() => server.closeAllConnections(), deadline_ms);
    await allAccepted(deadline_ms / 4);
    const gone = Promise.withResolvers<void>();
    // Node's own `close` would close idle connections too.
    NetServer.prototype.close.call(server, () => gone.resolve());
    // Answers to requests from now on say that they are the last.
    server.maxRequestsPerSocket = 1;
    for (const { _httpMessage: outgoing } of connected)
      if (outgoing && !outgoing.headersSent) outgoing.setHeader("connection", "close");
    await delay(Math.min(requests_ms, deadline_ms)).then(() => nextTurn());
    closeIdle();
    // A connection whose answer had begun before the end is idle only when that is over.
    const idle = setInterval(closeIdle, look_ms);
    await gone.promise;
    // Node closes the server before it emits `close` on each connection.
    while (connected.size > 0) await nextTurn();
    clearInterval(idle);
    clearTimeout(cutOff);
  };
}
