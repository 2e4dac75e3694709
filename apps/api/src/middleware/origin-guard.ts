import { allowsHost, type HostRule } from "@atlasqueue/core/hosts";
import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";

/** Methods that change nothing. */
export const reading = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * 403 for a request that changes something and that a browser sent for a page of another site: a form needs no
 * permission from us to be posted here. Programs other than browsers send neither header.
 */
export function originGuard(rule: HostRule | undefined) {
  return (c: ApiContext, next: Next): Promise<void> => {
    if (!reading.has(c.req.method) && isForeign(c, rule))
      throw new ProblemError(
        "forbidden",
        "This came from another site's page (Origin, Sec-Fetch-Site), which may not change anything here",
      );
    return next();
  };
}

function isForeign(c: ApiContext, rule: HostRule | undefined): boolean {
  // No page can set this one, and where the browser sends it, a proxy that changes our Host does no harm.
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const origin = c.req.header("origin");
  if (origin === undefined) return false;
  // "null" is the origin of a file, of a sandboxed frame and of a page that hides itself.
  if (!URL.canParse(origin)) return true;
  const { host, hostname } = new URL(origin);
  // By name only where names are set: on a loopback address other ports are other sites.
  return host !== new URL(c.req.url).host && !(rule?.names.includes(hostname) && allowsHost(rule, hostname));
}
