import { routePath } from "hono/route";
import type { ApiContext } from "../context.ts";

/** The route's pattern, which logs, metrics and spans go by: there are as many paths as jobs. Known when it is answered. */
export function templateOf(c: ApiContext): string {
  const path = routePath(c, -1);
  return path.endsWith("*") ? "unmatched" : path;
}
