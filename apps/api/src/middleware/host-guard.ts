import { isIPv4 } from "node:net";
import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";
import { ProblemError } from "../http/problem.ts";

/** Whether a name or address means this machine itself. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/**
 * 400 for a request that was addressed to another name than this machine's own. While nothing checks who calls, a web
 * page whose name was made to point to 127.0.0.1 could else submit jobs and read them from a visitor's browser.
 */
export function hostGuard(c: ApiContext, next: Next): Promise<void> {
  const { hostname } = new URL(c.req.url);
  if (!isLoopback(hostname.replace(/^\[(.*)\]$/, "$1")))
    throw new ProblemError(
      "malformed_request",
      "The Host must be localhost or a loopback address; ALLOW_UNAUTHENTICATED=true allows others",
    );
  return next();
}
