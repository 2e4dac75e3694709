import type { Next } from "hono";
import type { ApiContext } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";
import { isText, rawPath } from "../http/input/path.ts";

/**
 * 400 for a path whose escapes are not UTF-8, or hide a NUL: hono would pass them on, and the database would refuse
 * them.
 */
export function pathGuard(c: ApiContext, next: Next): Promise<void> {
  const path = rawPath(c);
  if (path.includes("%") && (!isText(path) || path.includes("%00")))
    throw new ProblemError("malformed_request", "The path has a % that is not followed by the code of a character");
  return next();
}
