import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createShares, type Shares } from "@atlasqueue/contract";
import type { Logger } from "@atlasqueue/core";
import { withinHeap } from "@atlasqueue/core/internal";
import { getRequestListener, RequestError } from "@hono/node-server";
import { answerClientError, refuseConnect } from "./http/answers/client-error.ts";
import { MergingMessage } from "./http/body/merging-message.ts";
import type { ApiEnv } from "./http/context.ts";
import { answerProblem, internal, ProblemError } from "./http/answers/problem.ts";
import { network } from "./http/input/address.ts";
import { addressOldRequest } from "./http/input/no-host.ts";
import { createLastRequests } from "./http/last-requests.ts";
import { oneAtATime } from "./http/one-at-a-time.ts";
import { createUnderWay } from "./http/under-way.ts";
import { refuse, wireFaultOf } from "./http/wire-faults.ts";
import type { Hono } from "hono";

export type ServerOptions = {
  host: string;
  port: number;
  logger: Logger;
  timeouts?: Partial<ServerTimeouts>;
  /** How long an idle connection stays open. Default 65 s. */
  keep_alive_ms?: number;
  /** Default 20,000; fewer where the heap is below 2 GB. */
  connections_max?: number;
};

/**
 * How long a client may take to send its headers, and its whole request, checked every `check_interval_ms`; and how long
 * nothing may move on a connection, such as when nobody reads an answer.
 */
type ServerTimeouts = { headers_ms: number; request_ms: number; check_interval_ms: number; stalled_ms: number };

const defaultTimeouts: ServerTimeouts = {
  headers_ms: 10_000,
  request_ms: 20_000,
  check_interval_ms: 5_000,
  // Well above half a minute, which a request may wait for a job.
  stalled_ms: 120_000,
};
/** More than there are long polls at once; each takes a file and, while headers arrive, up to forty kilobytes. */
const connections_max_default = 20_000;
/** What a connection takes while headers arrive. */
export const connection_bytes = 40_000;
/** Of a small heap they may take four tenths. */
const connections_heap = { part: 2.5, bytes_each: connection_bytes };
const header_bytes_max = 16_384;
/** Longer than most load balancers' idle timeout, so that they are the ones to close the connection. */
const keep_alive_ms_default = 65_000;

export type RunningServer = {
  url: string;
  port: number;
  /**
   * Takes no more connections, and on each that is open one more request at most; waits for those in flight up to
   * `deadline_ms`, then cuts them off. Resolves when each has heard that its connection has ended; what was being done for
   * it may go on.
   */
  stop(deadline_ms: number): Promise<void>;
};

/**
 * Serve an app on a port. Rejects with Node's error (EADDRINUSE, EACCES…) when it cannot listen.
 *
 * @example
 * const server = await startServer(app, { host: "127.0.0.1", port: 8000, logger });
 */
export async function startServer(app: Hono<ApiEnv>, options: ServerOptions): Promise<RunningServer> {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const listener = getRequestListener(app.fetch as (request: Request) => Promise<Response>, {
    errorHandler: (error) => answerUnroutable(error, options.logger),
    // Node discards the rest of a body by itself.
    autoCleanupIncoming: false,
  });
  const inTurn = oneAtATime((incoming, outgoing) => {
    last.begin(outgoing);
    addressOldRequest(incoming);
    const fault = wireFaultOf(incoming);
    if (fault === undefined) void listener(incoming, outgoing);
    else refuse(incoming, outgoing, fault.kind, fault.detail);
  });
  const server = createServer(
    {
      headersTimeout: timeouts.headers_ms,
      requestTimeout: timeouts.request_ms,
      connectionsCheckingInterval: timeouts.check_interval_ms,
      keepAliveTimeout: options.keep_alive_ms ?? keep_alive_ms_default,
      maxHeaderSize: header_bytes_max,
      // Refused by the listener, which answers in our format.
      requireHostHeader: false,
      IncomingMessage: MergingMessage,
    },
    inTurn,
  );
  server.timeout = timeouts.stalled_ms;
  const last = createLastRequests(server);
  const connections_max = options.connections_max ?? withinHeap(connections_max_default, connections_heap);
  shareConnections(server, createShares(connections_max));
  const connections = createUnderWay();
  server.on("connection", (socket) => connections.add(new Promise((resolve) => socket.once("close", resolve))));
  server.on("clientError", answerClientError);
  server.on("checkExpectation", inTurn);
  server.on("connect", refuseConnect);
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${shownHost(options.host)}:${port}`,
    port,
    async stop(deadline_ms) {
      await last.end(deadline_ms);
      // A server counts a connection as gone before its requests are told.
      await connections.over();
    },
  };
}

/** No network, whether it shows a token or not, has all connections: one that is over its share is closed at once. */
function shareConnections(server: Server, connections: Shares): void {
  server.on("connection", (socket) => {
    const holder = network(socket.remoteAddress ?? "unknown");
    if (connections.take(holder, 1) !== "taken") return void socket.destroy();
    socket.once("close", () => connections.give(holder, 1));
  });
}

/** Requests hono never saw, as their target is not a URL. */
function answerUnroutable(error: unknown, logger: Logger): Response {
  const request_id = randomUUID();
  if (error instanceof RequestError)
    return answerProblem(request_id, new ProblemError("malformed_request", error.message));
  logger.error({ event: "http_error", request_id, err: error }, "http_error");
  return answerProblem(request_id, internal());
}

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** A callable address, for one that means "all of them". */
function shownHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
