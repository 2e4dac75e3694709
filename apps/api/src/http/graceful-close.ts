import { Server as NetServer, type Socket } from "node:net";
import type { Server, ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";

/** If no connection arrives for this long, Node has taken all that the system had accepted. */
const quiet_ms = 50;
const connects_ms_max = 1_000;
/** For requests that are on their way on idle connections. */
const requests_ms = 500;
const look_ms = 100;

export type GracefulClose = {
  /** A request begins, which `outgoing` will answer. */
  begin(outgoing: ServerResponse): void;
  /** Resolves when nothing is connected. Cuts off the connections that are left at the deadline. */
  close(deadline_ms: number): Promise<void>;
};

/**
 * Closes a server without losing a request that is on its way: the port closes, each answer says that it is the last on
 * its connection, and idle connections are closed half a second later.
 *
 * @example
 * const closing = createGracefulClose(server);
 * await closing.close(10_000);
 */
export function createGracefulClose(server: Server): GracefulClose {
  let ending = false;
  let connects = 0;
  // By connection: on Node 22 a response that waits behind another emits no `close` when its connection closes.
  const unanswered = new Map<Socket, Set<ServerResponse>>();
  server.on("connection", (socket) => {
    connects += 1;
    unanswered.set(socket, new Set());
    socket.once("close", () => unanswered.delete(socket));
  });
  const closeIdle = () => {
    server.closeIdleConnections();
    // Node counts one that has brought nothing as busy.
    for (const socket of unanswered.keys()) if (socket.bytesRead === 0) socket.destroy();
  };
  const sayLast = (outgoing: ServerResponse) => {
    if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
  };
  return {
    begin(outgoing) {
      if (ending) return sayLast(outgoing);
      const its = unanswered.get(outgoing.req.socket);
      its?.add(outgoing);
      outgoing.once("close", () => its?.delete(outgoing));
    },
    async close(deadline_ms) {
      const cutOff = setTimeout(() => server.closeAllConnections(), deadline_ms);
      const closed = new Promise((resolve) => server.once("close", resolve));
      await untilNoneComes(() => connects, Math.min(connects_ms_max, deadline_ms / 2));
      // Node's own `close` would close idle connections too.
      NetServer.prototype.close.call(server);
      ending = true;
      for (const its of unanswered.values()) its.forEach(sayLast);
      await delay(Math.min(requests_ms, deadline_ms));
      closeIdle();
      // A connection whose answer had begun before the end is idle only when that is over.
      const idle = setInterval(closeIdle, look_ms);
      await closed;
      // Node closes the server before it emits `close` on each connection.
      while (unanswered.size > 0) await nextTurn();
      clearInterval(idle);
      clearTimeout(cutOff);
    },
  };
}

/** Resolves when what is counted has been the same for a moment, or after `ms_max`. */
async function untilNoneComes(count: () => number, ms_max: number): Promise<void> {
  const began = performance.now();
  for (let before = -1; before !== count() && performance.now() - began < ms_max;) {
    before = count();
    await delay(quiet_ms);
  }
}
