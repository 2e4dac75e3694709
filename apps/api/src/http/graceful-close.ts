import { Server as NetServer } from "node:net";
import type { Server, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** For connections that the system has accepted and Node has not. */
const connects_ms = 50;
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
  const unanswered = new Set<ServerResponse>();
  const sayLast = (outgoing: ServerResponse) => {
    if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
  };
  return {
    begin(outgoing) {
      if (ending) return sayLast(outgoing);
      unanswered.add(outgoing);
      outgoing.once("close", () => unanswered.delete(outgoing));
    },
    async close(deadline_ms) {
      const cutOff = setTimeout(() => server.closeAllConnections(), deadline_ms);
      const closed = new Promise((resolve) => server.once("close", resolve));
      await delay(Math.min(connects_ms, deadline_ms));
      // Node's own `close` would close idle connections too.
      NetServer.prototype.close.call(server);
      ending = true;
      unanswered.forEach(sayLast);
      await delay(Math.min(requests_ms, deadline_ms));
      server.closeIdleConnections();
      // A connection whose answer had begun before the end is idle only when that is over.
      const idle = setInterval(() => server.closeIdleConnections(), look_ms);
      await closed;
      clearInterval(idle);
      clearTimeout(cutOff);
    },
  };
}
