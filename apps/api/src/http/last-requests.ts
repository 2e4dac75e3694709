import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

/** What comes is read at least this often while a server stops. */
const look_ms = 20;
/** Looks in a row that have found neither a request nor a connection: callers have gone elsewhere. */
const quiet_looks = 5;
/** Callers that keep coming are not waited for longer than this. */
const wait_ms_max = 1_000;

export type LastRequests = {
  /** A request begins, which `outgoing` will answer. */
  begin(outgoing: ServerResponse): void;
  /** Resolves when nothing is connected. Cuts off what is not answered by the deadline. */
  end(deadline_ms: number): Promise<void>;
};

/**
 * The end of a server that callers use until then. It takes no more connections, and tells callers with each answer to come
 * that it is the last on theirs (`Connection: close`). What is still idle when nothing has come for a while, or after a
 * second, is closed: a request that is on its way to a connection as that is closed would be lost, and its caller could not
 * know whether it was seen.
 *
 * @example
 * const last = createLastRequests(server);
 * server.on("request", (_, outgoing) => last.begin(outgoing));
 * await last.end(10_000);
 */
export function createLastRequests(server: Server): LastRequests {
  let ending = false;
  let quiet = 0;
  const unanswered = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    quiet = 0;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const sayLast = (outgoing: ServerResponse) => {
    if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
  };
  const untilCallersAreGone = (ms_max: number) =>
    new Promise<void>((resolve) => {
      let looks_left = Math.min(wait_ms_max, ms_max) / look_ms;
      const look = () => {
        if (quiet >= quiet_looks || looks_left <= 0) return resolve();
        quiet += 1;
        looks_left -= 1;
        setTimeout(() => setImmediate(look), look_ms);
      };
      look();
    });
  const closeIdle = () => {
    server.closeIdleConnections();
    // Node counts one that has brought nothing as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  return {
    begin(outgoing) {
      quiet = 0;
      if (ending) return sayLast(outgoing);
      unanswered.add(outgoing);
      outgoing.once("close", () => unanswered.delete(outgoing));
    },
    async end(deadline_ms) {
      ending = true;
      unanswered.forEach(sayLast);
      const cutOff = setTimeout(() => server.closeAllConnections(), deadline_ms);
      const closed = new Promise((resolve) => server.once("close", resolve));
      // Not before the loop has let in those that have come.
      await new Promise((resolve) => setImmediate(resolve));
      closePort(server);
      await untilCallersAreGone(deadline_ms);
      closeIdle();
      // One whose answer had begun before the end is idle only when that is over.
      const idle = setInterval(() => setImmediate(closeIdle), look_ms);
      await closed;
      clearInterval(idle);
      clearTimeout(cutOff);
    },
  };
}

/** Node's own `close` would close idle connections too. */
function closePort(server: Server): void {
  NetServer.prototype.close.call(server);
}
