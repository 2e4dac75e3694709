import { Server as NetServer, type Socket } from "node:net";
import type { Server, ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

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
  // By connection: on Node 22 a response that waits behind another emits no `close` when its connection closes.
  const unanswered = new Map<Socket, ServerResponse[]>();
  let connects = 0;
  server.on("connection", (socket) => {
    connects += 1;
    unanswered.set(socket, []);
    socket.once("close", () => unanswered.delete(socket));
  });
  server.prependListener("request", ({ socket }, outgoing) => {
    const its = unanswered.get(socket) ?? [];
    its.push(outgoing);
    outgoing.once("close", () => its.splice(its.indexOf(outgoing), 1));
  });
  const closeIdle = () => {
    server.closeIdleConnections();
    // Node counts one that has brought nothing as busy.
    for (const socket of unanswered.keys()) if (socket.bytesRead === 0) socket.destroy();
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
    for (const outgoing of [...unanswered.values()].flat())
      if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
    await delay(Math.min(requests_ms, deadline_ms)).then(() => nextTurn());
    closeIdle();
    // A connection whose answer had begun before the end is idle only when that is over.
    const idle = setInterval(closeIdle, look_ms);
    await gone.promise;
    // Node closes the server before it emits `close` on each connection.
    while (unanswered.size > 0) await nextTurn();
    clearInterval(idle);
    clearTimeout(cutOff);
  };
}
