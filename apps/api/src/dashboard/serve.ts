import type { Hono } from "hono";
import type { ApiEnv } from "../http/context.ts";
import { answerFixed, fixed, type Fixed } from "../http/answers/cached.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { rawPath } from "../http/input/path.ts";
import type { BuiltDashboard } from "./built.ts";
import { guards } from "./guards.ts";

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
  app.on("GET", ["/", "/ui", "/ui/*"], (c) => answerFixed(c, placed(dashboard.index, rawPath(c), guards)));
  app.on("GET", "/assets/:file", (c) => {
    const name = c.req.param("file");
    const file = dashboard.assets.get(name);
    if (file) return answerFixed(c, file, for_ever);
    if (name.endsWith(".js")) return answerFixed(c, dashboard.missing, "no-store");
    throw new ProblemError("not_found", "The dashboard has no such file; a reload brings its newest version");
  });
}

/** A page served at any depth, whose own addresses are relative, as only a proxy may know the path in front. */
export function placed(page: Fixed, path: string, headers: Record<string, string>, root_depth = 1): Fixed {
  const up = "../".repeat(path.split("/").length - 1 - root_depth) || "./";
  return fixed(Buffer.from(page.bytes).toString().replaceAll('"./', `"${up}`), page.content_type, headers);
}
