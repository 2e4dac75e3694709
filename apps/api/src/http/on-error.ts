import { isUnavailable, type Logger, type Observe } from "@atlasqueue/core";
import { routePath } from "hono/route";
import { answerError } from "./answer-error.ts";
import type { ApiContext } from "./context.ts";
import { internal, ProblemError, unavailable } from "./problem.ts";

/** The one place that turns what was thrown into an answer. Causes go to the log, never to the client. */
export function answerErrors(deps: { observe: Observe; logger: Logger }) {
  return (error: Error, c: ApiContext): Response => {
    if (error instanceof ProblemError) return answerError(c, error);
    if (isUnavailable(error)) {
      const during = `${c.req.method} ${routePath(c, -1)}`;
      deps.observe({ event: "database_unavailable", during, error: textOf(error) });
      return answerError(c, unavailable("The database did not answer"));
    }
    deps.logger.error({ event: "http_error", request_id: c.get("request_id"), err: error }, "http_error");
    return answerError(c, internal());
  };
}

/** A failed connection to several addresses has a code and no message. */
function textOf(error: Error & { code?: unknown }): string {
  return error.message || String(error.code);
}
