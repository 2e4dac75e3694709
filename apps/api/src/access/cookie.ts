import { hashToken, isSessionText } from "@atlasqueue/core/internal/http";
import { generateCookie, getCookie } from "hono/cookie";
import type { ApiContext } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { reading } from "../middleware/guards.ts";

const name = "atlasqueue_session";

/** What the dashboard sends with every call: no form and no other site's page can. */
const own_header = "x-atlasqueue-dashboard";
/** The id of the token that the page believes its session to be of. */
const token_header = "x-atlasqueue-token-id";

/**
 * The hash of the session in a request's cookie. Over https it has a prefixed name, which no other host of the same
 * domain can set; there the plain one, which anyone can, counts for nothing.
 */
export function sessionHashOf(c: ApiContext): string | undefined {
  if (c.req.header("cookie") === undefined) return undefined;
  const text = getCookie(c, name, "host") ?? (isHttps(c) ? undefined : getCookie(c, name));
  return text !== undefined && isSessionText(text) ? hashToken(text) : undefined;
}

/** 403 for a change that a cookie alone asks for: browsers send cookies whoever's page is asking. */
export function requireOwnHeader(c: ApiContext): void {
  if (reading.has(c.req.method) || c.req.header(own_header) === "1") return;
  throw new ProblemError(
    "forbidden",
    "A session may only change something with the header X-AtlasQueue-Dashboard: 1, which no other site's page can send",
  );
}

/** Not when another tab has signed in as somebody else, and this page does not know it yet. One that names none means any. */
export function meansToken(c: ApiContext, token_id: string | undefined): boolean {
  const meant = c.req.header(token_header);
  return meant === undefined || meant === token_id;
}

/** The Set-Cookie of a new session, or without a text of the end of one. */
export function sessionCookie(c: ApiContext, session: { text: string; ends_in_ms: number } | undefined): string {
  return generateCookie(name, session?.text ?? "", {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    maxAge: session ? Math.max(0, Math.floor(session.ends_in_ms / 1_000)) : 0,
    ...(isHttps(c) && { secure: true, prefix: "host" as const }),
  });
}

/**
 * Whether the browser speaks https, maybe to a proxy before us. Anyone can send the header: all they get is a cookie
 * that their own browser does not send back over http.
 */
function isHttps(c: ApiContext): boolean {
  const forwarded = c.req.header("x-forwarded-proto")?.split(",")[0]?.trim();
  return (
    (forwarded ?? new URL(c.req.url).protocol.slice(0, -1)) === "https" ||
    c.req.header("origin")?.startsWith("https://") === true
  );
}
