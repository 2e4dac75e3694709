import { routePath } from "hono/route";
import type { ApiContext } from "../context.ts";

/** The scheme and host that a request is addressed to. Without `new URL`, as every request asks. */
export function originOf(c: ApiContext): string {
  const { url } = c.req;
  return url.slice(0, url.indexOf("/", url.indexOf(":") + 3));
}

/** The path as it was sent, without the query. `c.req.path` is decoded as far as it can be. */
export function rawPath(c: ApiContext): string {
  const { url } = c.req;
  const start = url.indexOf("/", url.indexOf(":") + 3);
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}

/** Whether every % of a part of a URL is an escape, and all of them together are UTF-8. */
export function isText(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The route's pattern, which logs, metrics and spans go by: there are as many paths as jobs. Known when it is answered. */
export function templateOf(c: ApiContext): string {
  const path = routePath(c, -1);
  return path.endsWith("*") ? "unmatched" : path;
}

const probes = new Set(["/health", "/livez", "/readyz", "/ready", "/metrics"]);

/** Whether this path is asked every few seconds, and by no one who would look for it in a log or a trace. */
export const isProbe = (path: string): boolean => probes.has(path);
