import { allowsHost, bareHost, type HostRule } from "@atlasqueue/program/hosts";
import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { isText, originOf, rawPath } from "../http/input/path.ts";

/** Refuses what no route should see. In one middleware, as each makes objects for every request. */
export function guard(rule: HostRule | undefined, public_origin?: string) {
  const [guardHost, guardOrigin] = [hostGuard(rule), originGuard(rule, public_origin)];
  return (c: ApiContext, next: Next): Promise<void> => {
    guardPath(c);
    guardHost(c);
    guardOrigin(c);
    return next();
  };
}

/** Methods that change nothing. */
export const reading = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * 403 for a request that changes something and that a browser sent for a page of another site: a form needs no
 * permission from us to be posted here. Programs other than browsers send neither header.
 */
function originGuard(rule: HostRule | undefined, public_origin?: string) {
  return (c: ApiContext): void => {
    if (reading.has(c.req.method)) return;
    const is_ours = public_origin !== undefined && c.req.header("origin") === public_origin;
    if (!is_ours && isForeign(c, rule)) throw new ProblemError("foreign_origin", whyForeign(c));
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
  return host !== new URL(c.req.url).host && !(rule?.names.includes(bareHost(hostname)) && allowsHost(rule, hostname));
}

const header_chars_max = 200;

/** Most who read this run a proxy that changes Host: then the API's own page looks like another site's. */
function whyForeign(c: ApiContext): string {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return `The browser sent Sec-Fetch-Site: ${site}. Only pages of this API may change anything`;
  const origin = c.req.header("origin")?.slice(0, header_chars_max);
  return (
    `Origin is ${origin}, but Host is ${new URL(c.req.url).host}. If a proxy in front of this API changes Host, ` +
    "let it pass Host on, or set PUBLIC_ORIGIN to this origin"
  );
}

/** 400 for a request addressed to a name this API does not answer to. */
function hostGuard(rule: HostRule | undefined) {
  // Most requests have the same one, and parsing an address takes as long as finding its route.
  let allowed: string | undefined;
  return (c: ApiContext): void => {
    const origin = originOf(c);
    if (origin === allowed) return;
    if (!allowsHost(rule, new URL(c.req.url).hostname))
      throw new ProblemError(
        "malformed_request",
        "This API does not answer to the name in the Host header; ALLOWED_HOSTS adds names besides localhost",
      );
    allowed = origin;
  };
}

/**
 * 400 for a path whose escapes are not UTF-8, or hide a NUL: hono would pass them on, and the database would refuse
 * them.
 */
function guardPath(c: ApiContext): void {
  const path = rawPath(c);
  if (path.includes("%") && (!isText(path) || path.includes("%00")))
    throw new ProblemError("malformed_request", "The path has a % that is not followed by the code of a character");
}
