import type { Hono } from "hono";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import { namesTag } from "../http/answers/cached.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { rawPath } from "../http/input/path.ts";
import type { BuiltDashboard, BuiltFile } from "./built.ts";

/** The page's own files and nothing else: no script, style, picture or frame from elsewhere or in the page itself. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const guards = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** A hashed name never has another content. */
export const for_ever = "public, max-age=31536000, immutable";

/**
 * Serve the page at `/` and below `/ui`. Only there: an address that is neither ours nor the page's stays a 404, so that
 * a mistyped path of the API is not answered with a page.
 *
 * @example
 * addDashboard(app, readDashboard());
 */
export function addDashboard(app: Hono<ApiEnv>, dashboard: BuiltDashboard): void {
  app.on("GET", ["/", "/ui", "/ui/*"], (c) => answerFile(c, placed(dashboard.index, rawPath(c)), "no-cache"));
  app.on("GET", "/assets/:file", (c) => {
    const name = c.req.param("file");
    const file = dashboard.assets.get(name);
    if (file) return answerFile(c, file, for_ever);
    if (name.endsWith(".js")) return answerFile(c, dashboard.missing, "no-store");
    throw new ProblemError("not_found", "The dashboard has no such file; a reload brings its newest version");
  });
}

/** A page served at any depth, whose own addresses are relative, as only a proxy may know the path in front. */
export function placed({ plain, etag, content_type }: BuiltFile, path: string, root_depth = 1): BuiltFile {
  const up = "../".repeat(path.split("/").length - 1 - root_depth) || "./";
  const moved = Buffer.from(plain).toString().replaceAll('"./', `"${up}`);
  return { content_type, etag: `${etag}-${up.length}`, plain: new TextEncoder().encode(moved) };
}

export function answerFile(c: ApiContext, file: BuiltFile, cache: string, status = 200): Response {
  const { body, encoding } = encode(file, c.req.header("accept-encoding"));
  const etag = `"${file.etag}${encoding === undefined ? "" : `-${encoding}`}"`;
  const same = status === 200 && namesTag(c.req.header("if-none-match"), etag);
  return new Response(same ? null : body, {
    status: same ? 304 : status,
    headers: {
      "content-type": file.content_type,
      "cache-control": cache,
      "x-request-id": c.get("request_id"),
      vary: "accept-encoding",
      etag,
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
      ...guards,
    },
  });
}

type Encoded = { body: Uint8Array<ArrayBuffer>; encoding: "br" | "gzip" | undefined };

/**
 * The smallest form of a file that the request accepts. `q=0` is a refusal, and `*` stands for what is not named; finer
 * preferences count for nothing, as the smallest is what everyone wants.
 */
function encode(file: BuiltFile, accept: string | undefined): Encoded {
  const wanted = new Map(
    (accept ?? "").split(",").map((one) => {
      const [name = "", ...parameters] = one.trim().toLowerCase().split(";");
      const refused = parameters.some((each) => /^\s*q=0(\.0*)?\s*$/.test(each));
      return [name.trim(), !refused];
    }),
  );
  const takes = (name: string) => wanted.get(name) ?? wanted.get("*") ?? false;
  if (file.br && takes("br")) return { body: file.br, encoding: "br" };
  if (file.gzip && takes("gzip")) return { body: file.gzip, encoding: "gzip" };
  return { body: file.plain, encoding: undefined };
}
