import type { Hono } from "hono";
import { answerError } from "../http/answers/on-error.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";
import { ProblemError } from "../http/answers/problem.ts";

/** The answer when no route matches: 405 when the path exists under other methods, otherwise 404. */
export function answerUnmatched(app: Hono<ApiEnv>) {
  return (c: ApiContext): Response => {
    const allowed = methodsOf(app, c.req.path);
    const problem =
      allowed.length === 0
        ? new ProblemError("not_found", "There is no such path; paths are case-sensitive and have no trailing slash")
        : new ProblemError("method_not_allowed", `This path takes ${allowed.join(", ")}`, {
            headers: { allow: allowed.join(", ") },
          });
    return answerError(c, problem);
  };
}

/** The methods a path has routes for, from the router itself: a new route needs no entry anywhere. */
function methodsOf(app: Hono<ApiEnv>, path: string): string[] {
  const methods = new Set(app.routes.map((route) => route.method).filter((method) => method !== middleware));
  const allowed = [...methods].filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method !== middleware),
  );
  if (allowed.includes("GET")) allowed.push("HEAD");
  return allowed.sort();
}

/** What hono calls the method of `app.use`. */
const middleware = "ALL";
