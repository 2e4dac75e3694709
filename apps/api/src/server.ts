import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createShares, type Shares } from "@atlasqueue/contract";
import type { Logger } from "@atlasqueue/core";
import { serverLimits, type ServerTimeouts } from "@atlasqueue/program/server-limits";
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
  /** Default 20,000; fewer with a small heap or few files. */
  connections_max?: number;
};

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
  const limits = serverLimits({
    timeouts: options.timeouts,
    keepAliveMs: options.keep_alive_ms,
    connectionsMax: options.connections_max,
  });
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
      ...limits.options,
      // Refused by the listener, which answers in our format.
      requireHostHeader: false,
      IncomingMessage: MergingMessage,
    },
    inTurn,
  );
  server.timeout = limits.stalled_ms;
  const last = createLastRequests(server);
  shareConnections(server, createShares(limits.connections_max));
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
