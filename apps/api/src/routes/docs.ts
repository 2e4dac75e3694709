import { Hono } from "hono";
import { isDocsFile, readDocsFile } from "../docs/files.ts";
import { docsPage, docsPolicy } from "../docs/page.ts";
import { answerFixed, fixed, type Fixed } from "../http/answers/cached.ts";
import type { ApiEnv } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";

/** `/docs`, the API for people, with all it loads. */
export function docsRoutes(): Hono<ApiEnv> {
  const page = fixed(docsPage, "text/html; charset=utf-8", { "content-security-policy": docsPolicy });
  // Read when first asked for: most processes never are.
  const files = new Map<string, Fixed>();
  const routes = new Hono<ApiEnv>();
  routes.get("/docs", (c) => answerFixed(c, page));
  routes.get("/docs/:file", async (c) => {
    const name = c.req.param("file");
    if (!isDocsFile(name)) throw new ProblemError("not_found", "The documentation has no such file");
    const file = files.get(name) ?? (await readDocsFile(name));
    files.set(name, file);
    return answerFixed(c, file);
  });
  return routes;
}
