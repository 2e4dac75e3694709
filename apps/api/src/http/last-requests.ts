import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

/** What comes is read at least this often while a server stops. */
const look_ms = 20;
/** Looks in a row that have found nothing new. */
const quiet_looks = 5;
/** Those who keep connecting are not waited for longer than this, nor are those who keep sending requests. */
const connects_ms_max = 500;
const requests_ms_max = 1_000;

export type LastRequests = {
  /** A request begins, which `outgoing` will answer. */
  begin(outgoing: ServerResponse): void;
  /** Resolves when nothing is connected. Cuts off what is not answered by the deadline. */
  end(deadline_ms: number): Promise<void>;
};

/**
 * The end of a server that callers use until then, so that no request is lost on its way: its caller could not know whether it
 * was seen. Its port is closed when no connection has come for a while, as the system resets those that were not let in;
 * that is one each turn of the loop. Then each answer says that it is the last on its connection, and those that are idle
 * are closed when no request has come for a while either.
 *
 * @example
 * const last = createLastRequests(server);
 * server.on("request", (_, outgoing) => last.begin(outgoing));
 * await last.end(10_000);
 */
export function createLastRequests(server: Server): LastRequests {
  let ending = false;
  let connects = 0;
  let requests = 0;
  const unanswered = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    connects += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const sayLast = (outgoing: ServerResponse) => {
    if (!outgoing.headersSent) outgoing.setHeader("connection", "close");
  };
  const closeIdle = () => {
    server.closeIdleConnections();
    // Node counts one that has brought nothing as busy.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  return {
    begin(outgoing) {
      requests += 1;
      if (ending) return sayLast(outgoing);
      unanswered.add(outgoing);
      outgoing.once("close", () => unanswered.delete(outgoing));
    },
    async end(deadline_ms) {
      const cutOff = setTimeout(() => server.closeAllConnections(), deadline_ms);
      const closed = new Promise((resolve) => server.once("close", resolve));
      await untilQuiet(() => connects, Math.min(connects_ms_max, deadline_ms));
      closePort(server);
      ending = true;
      unanswered.forEach(sayLast);
      await untilQuiet(() => requests, Math.min(requests_ms_max, deadline_ms));
      closeIdle();
      // One whose answer had begun before the end is idle only when that is over.
      const idle = setInterval(() => setImmediate(closeIdle), look_ms);
      await closed;
      clearInterval(idle);
      clearTimeout(cutOff);
    },
  };
}

/** Resolves when what is counted has been the same for some looks, or after `ms_max`. */
async function untilQuiet(count: () => number, ms_max: number): Promise<void> {
  let quiet = 0;
  for (let ms = 0, before = count(); ms < ms_max && quiet < quiet_looks; ms += look_ms) {
    await new Promise((resolve) => setTimeout(resolve, look_ms));
    quiet = count() === before ? quiet + 1 : 0;
    before = count();
  }
  // Not before the loop has read what has come.
  await new Promise((resolve) => setImmediate(resolve));
}

/** Node's own `close` would close idle connections too. */
function closePort(server: Server): void {
  NetServer.prototype.close.call(server);
}
