import cluster from "node:cluster";
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

/** What comes is read at least this often while a server stops. */
const look_ms = 20;
/** Looks in a row that have found no request: callers have gone elsewhere. */
const quiet_looks = 5;
/** Those who go on sending requests are not waited for longer than this. */
const requests_ms_max = 1_000;
/** Turns of the loop in a row that have let in no connection: none waits. */
const quiet_turns = 3;
/** In a process of a cluster they come from another, which may be late. */
const quiet_ms = cluster.isWorker ? 500 : 0;
/** Nor are those who go on connecting for longer than this, or half of the time that there is. */
const connects_ms_max = 5_000;

export type LastRequests = {
  /** A request begins, which `outgoing` will answer. */
  begin(outgoing: ServerResponse): void;
  /** Resolves when nothing is connected. Cuts off what is not answered by the deadline. */
  end(deadline_ms: number): Promise<void>;
};

/**
 * The end of a server that callers use until then, so that no request is lost on its way: its caller could not know whether it
 * was seen. Its port is closed when no connection waits to be let in, as the system resets those; it is one each turn of
 * the loop. Then each answer says that it is the last on its connection, and those that are idle are closed when no request
 * has come for a while either.
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
      await untilNoneWaits(() => connects, Math.min(connects_ms_max, deadline_ms / 2));
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

/** Resolves when no more connections come, which is one each turn of the loop at most, or after `ms_max`. */
async function untilNoneWaits(count: () => number, ms_max: number): Promise<void> {
  const began = performance.now();
  let last_came = began;
  for (let quiet = 0, before = count(); quiet < quiet_turns || performance.now() - last_came < quiet_ms;) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = performance.now();
    if (now - began > ms_max) return;
    quiet = count() === before ? quiet + 1 : 0;
    if (quiet === 0) last_came = now;
    before = count();
  }
}

/** Resolves when what is counted has been the same for some looks, or after `ms_max`. */
async function untilQuiet(count: () => number, ms_max: number): Promise<void> {
  let quiet = 0;
  for (let ms = 0, before = count(); ms < ms_max && quiet < quiet_looks; ms += look_ms) {
    await new Promise((resolve) => setTimeout(resolve, look_ms));
    // Not before the loop has read what has come.
    await new Promise((resolve) => setImmediate(resolve));
    quiet = count() === before ? quiet + 1 : 0;
    before = count();
  }
}

/** Node's own `close` would close idle connections too. */
function closePort(server: Server): void {
  NetServer.prototype.close.call(server);
}
