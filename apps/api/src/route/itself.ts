import type { TraceContext } from "@atlasqueue/contract";
import type { Hono } from "hono";
import { envOf, type ApiContext, type ApiEnv } from "../http/context.ts";

/** The app, to be asked by one of its own routes in its caller's name. */
export type Itself = {
  url: string;
  /** Of the request that asks. */
  headers: Headers;
  fetch: typeof fetch;
};

/** What says who the caller is. */
const carried = ["authorization", "cookie", "x-atlasqueue-dashboard", "x-atlasqueue-token-id"];

/**
 * The app as a caller reaches it, but without the wire: the routes that are asked decide, limit and note everything as
 * they do for anyone. What they hand over is taken back if the caller hangs up, or if `init.signal` aborts before the
 * answer.
 *
 * @example
 * const client = createClient({ ...itselfOf(c, app, call.trace) });
 */
export function itselfOf(c: ApiContext, app: Hono<ApiEnv>, trace: TraceContext | undefined): Itself {
  const { caller, outgoing } = envOf(c);
  return {
    url: new URL(c.req.url).origin,
    headers: c.req.raw.headers,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      for (const name of carried) {
        const shown = c.req.header(name);
        if (shown !== undefined) request.headers.set(name, shown);
      }
      if (trace) {
        request.headers.set("traceparent", trace.traceparent);
        if (trace.tracestate !== null) request.headers.set("tracestate", trace.tracestate);
      }
      if (!request.headers.has("x-request-id")) request.headers.set("x-request-id", c.get("request_id"));
      return app.fetch(request, {
        client_address: c.get("client_address"),
        ...(caller && { caller }),
        ...(outgoing && { outgoing }),
        ...(init?.signal && { given_up: init.signal }),
      });
    },
  };
}
