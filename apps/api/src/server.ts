import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "@atlasqueue/core";
import { serverLimits, type ServerTimeouts } from "@atlasqueue/program/server-limits";
import { getRequestListener, RequestError } from "@hono/node-server";
import { answerClientError } from "./http/answers/client-error.ts";
import type { ApiEnv } from "./http/context.ts";
import { answerProblem, internal, ProblemError } from "./http/answers/problem.ts";
import { gracefulClose } from "./http/graceful-close.ts";
import type { Hono } from "hono";

export type ServerOptions = {
  host: string;
  port: number;
  logger: Logger;
  /** A path that requests may begin with, and that is cut off: `/queue`. Default: none. */
  base_path?: string | undefined;
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
   * Takes no more connections, and on each that is open one more request at most; waits for requests in flight up to
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
    // HTTP/1.0 knows no Host, and some load balancers' health checks send none.
    hostname: shownHost(options.host),
  });
  const { base_path: base = "" } = options;
  const server = createServer(limits.options, (incoming, outgoing) => {
    const { url = "" } = incoming;
    if (base && (url === base || url.startsWith(`${base}?`)))
      return void outgoing.writeHead(308, { location: `${base}/${url.slice(base.length)}` }).end();
    if (url.startsWith(`${base}/`)) incoming.url = url.slice(base.length);
    void listener(incoming, outgoing);
  });
  server.timeout = limits.stalled_ms;
  server.maxConnections = limits.connections_max;
  // Otherwise the primary of a cluster would offer the connection again and again.
  Object.assign(server, { dropMaxConnection: true });
  server.on("clientError", answerClientError);
  const stop = gracefulClose(server);
  server.listen(options.port, options.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${shownHost(options.host)}:${port}`,
    port,
    stop,
  };
}

/** Requests hono never saw, as their target is not a URL. */
function answerUnroutable(error: unknown, logger: Logger): Response {
  const request_id = randomUUID();
  if (error instanceof RequestError)
    return answerProblem(request_id, new ProblemError("malformed_request", error.message));
  logger.error({ event: "http_error", request_id, err: error }, "http_error");
  return answerProblem(request_id, internal());
}

/** A callable address, for one that means "all of them". */
function shownHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
