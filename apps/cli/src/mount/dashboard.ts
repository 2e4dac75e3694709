import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller, RunningApi } from "@atlasqueue/api";
import { getRequestListener } from "@hono/node-server";
import { configOf, type DashboardOptions } from "./options.ts";

export type { DashboardOptions, DashboardUser } from "./options.ts";

export type Dashboard = {
  readonly basePath: string;
  /** Responds to a request for `basePath` or below it. `address` is the client's, for the audit log. */
  fetch(request: Request, from?: { address?: string | undefined }): Promise<Response>;
  /**
   * The same for Node's `http`, Express, Fastify and Nest. It takes a body that was parsed before from `body`, and the
   * client's address from `ip`, which Express sets by its `trust proxy`, or from the socket.
   */
  node(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Finishes what is in flight, then closes the connections. */
  close(): Promise<void>;
};

/**
 * The dashboard and its API as a handler inside your own program, behind your own sign-in. Nothing is loaded or connected
 * before the first request. Throws a TypeError for a `basePath` that is no path.
 *
 * @example
 * const dashboard = createDashboard({ databaseUrl, basePath: "/queue", user: () => ({ name: "ada", scopes: ["read"] }) });
 * express().use("/queue", dashboard.node);
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  const basePath = (options.basePath ?? "/").replace(/\/$/, "");
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(basePath))
    throw new TypeError(`basePath must be a path such as /admin/queue; got ${JSON.stringify(options.basePath)}`);
  let closed = false;
  let opening: Promise<RunningApi> | undefined;
  const api = () => {
    if (closed) throw new Error("the dashboard is closed");
    // The database may be away for now: the next request tries again.
    return (opening ??= open(options).catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
  };

  const answer = async (request: Request, client_address: string | undefined): Promise<Response> => {
    const url = new URL(request.url);
    if (basePath !== "" && url.pathname === basePath)
      return new Response(null, { status: 308, headers: { location: `${basePath}/${url.search}` } });
    if (!url.pathname.startsWith(`${basePath}/`)) return refuse(404, "not-found", `The dashboard is at ${basePath}/`);
    const user = await options.user(request);
    if (!user) return refuse(401, "unauthorized", "Sign in to see this");
    // Another site's page can have the browser send the program's own cookie, but not this header.
    if (!/^(GET|HEAD)$/.test(request.method) && request.headers.get("x-atlasqueue-dashboard") !== "1")
      return refuse(403, "forbidden", "A change needs the header X-AtlasQueue-Dashboard: 1");
    url.pathname = url.pathname.slice(basePath.length);
    const caller = { tenant: user.tenant ?? "default", scopes: new Set(user.scopes), token_name: user.name };
    const from = client_address === undefined ? {} : { client_address };
    return (await api()).fetch(new Request(url, request), { caller, given_up: request.signal, ...from });
  };

  const listener = getRequestListener(
    (request, { incoming }) => {
      const passed = incoming as Passed;
      return answer(withBody(request, passed), passed.ip ?? passed.socket.remoteAddress).catch(unavailable);
    },
    { overrideGlobalObjects: false },
  );
  return {
    basePath: basePath || "/",
    fetch: (request, { address } = {}) => answer(request, address).catch(unavailable),
    node(incoming, outgoing) {
      const { originalUrl } = incoming as Passed;
      // A framework may have cut off the path at which it passes requests on.
      if (originalUrl !== undefined) incoming.url = originalUrl;
      void listener(incoming, outgoing);
    },
    async close() {
      closed = true;
      const running = await opening?.catch(() => undefined);
      await running?.stop();
    },
  };
}

/** What Express and Nest add to a request. */
type Passed = IncomingMessage & { originalUrl?: string; body?: unknown; ip?: string };

/** If a parser has read the body already, this writes the parsed value as JSON again. */
function withBody(request: Request, { body, readableEnded }: Passed): Request {
  if (!readableEnded || body === undefined || /^(GET|HEAD)$/.test(request.method)) return request;
  const headers = new Headers(request.headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  const text = typeof body === "string" || Buffer.isBuffer(body) ? String(body) : JSON.stringify(body);
  // A parser makes an empty object of no body.
  const none = text === "{}" && !request.headers.has("content-type");
  return new Request(request.url, { method: request.method, headers, ...(none ? {} : { body: text }) });
}

async function open(options: DashboardOptions): Promise<RunningApi> {
  const { startApi } = await import("@atlasqueue/api");
  // `fetch` passes it on.
  return startApi(await configOf(options), { callerOf: (c) => c.env.caller as Caller });
}

function refuse(status: number, kind: string, detail: string): Response {
  const headers = { "content-type": "application/problem+json", "cache-control": "no-store" };
  return new Response(JSON.stringify({ type: `/problems/${kind}`, status, title: detail, detail }), {
    status,
    headers,
  });
}

/** Nothing could be connected. The reason may name servers, so it is for the program alone. */
function unavailable(error: unknown): Response {
  process.emitWarning(`the dashboard cannot answer: ${error instanceof Error ? error.message : String(error)}`);
  return refuse(503, "unavailable", "The queue cannot be reached now");
}
