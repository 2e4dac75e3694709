import { randomUUID } from "node:crypto";
import { limits, readTraceContext, type Tracing } from "@atlasqueue/contract";
import type { Next } from "hono";
import { type ApiContext, envOf, senderOf } from "../http/context.ts";
import { isProbe, templateOf, rawPath } from "../http/input/path.ts";
import { clientAddress, type Trusts } from "../http/input/address.ts";
import type { Observe } from "@atlasqueue/core";

const path_chars_max = 200;

/**
 * A server span per request, as HTTP's semantic conventions 1.45.0 (stable) have it, part of the trace its headers name.
 */
export function traceRequests(tracing: Tracing) {
  return async (c: ApiContext, next: Next): Promise<void> => {
    if (!tracing.on() || isProbe(c.req.path)) return next();
    const { method } = c.req;
    const { protocol, pathname } = new URL(c.req.url);
    const began = performance.now();
    const scheme = { "url.scheme": protocol.slice(0, -1), "http.request.method": method };
    const span = tracing.start({
      name: method,
      kind: "server",
      parent: readTraceContext(c.req.header("traceparent"), c.req.header("tracestate")) ?? null,
      attributes: { ...scheme, "url.path": pathname.slice(0, path_chars_max) },
    });
    await span.active(next);
    const { status } = c.res;
    const route = templateOf(c);
    const answer = { "http.route": route, "http.response.status_code": status };
    span.rename(`${method} ${route}`);
    span.set({ ...answer, "atlasqueue.request.id": c.get("api_request_id") });
    const error = status >= 500 ? { type: String(status) } : undefined;
    span.end(error);
    const told = { ...scheme, ...answer, ...(error && { "error.type": error.type }) };
    tracing.measure("http.server.request.duration", (performance.now() - began) / 1_000, told);
  };
}

/**
 * Identifies a request, and makes one `http_request` event of it, whatever its outcome; `http_probe` for a probe that was
 * answered well.
 */
export function accessLog(observe: Observe, trusts: Trusts | undefined) {
  return async (c: ApiContext, next: Next): Promise<void> => {
    const start = performance.now();
    identify(c, trusts);
    await next();
    observe({
      event: isProbe(c.req.path) && c.res.ok ? "http_probe" : "http_request",
      ...senderOf(c),
      method: c.req.method,
      path_template: templateOf(c),
      path: rawPath(c).slice(0, path_chars_max),
      status_code: c.res.status,
      duration_ms: Math.round((performance.now() - start) * 1_000) / 1_000,
    });
  };
}

const wellFormed = new RegExp(`^[A-Za-z0-9._-]{1,${limits.request_id_chars_max}}$`);

/**
 * Gives a request its ids and its sender's address. `request_id` is the caller's when it is well-formed, and `answer.ts`
 * sends it back; `api_request_id` is always our own, so that no caller can give theirs another request's.
 */
function identify(c: ApiContext, trusts: Trusts | undefined): void {
  const own = randomUUID();
  const given = c.req.header("x-request-id");
  c.set("api_request_id", own);
  c.set("request_id", given !== undefined && wellFormed.test(given) ? given : own);
  const { incoming, client_address: asker } = envOf(c);
  const socket = incoming?.socket.remoteAddress;
  const from = socket && trusts ? clientAddress(socket, c.req.header("x-forwarded-for"), trusts) : socket;
  c.set("client_address", asker ?? from ?? "unknown");
}
