import { randomBytes } from "node:crypto";
import type { Logger } from "@atlasqueue/core";
import type { HostRule } from "@atlasqueue/core/hosts";
import type { RateLimit } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { noAuthentication } from "./access/authenticate.ts";
import { createRateLimiter } from "./access/rate-limiter.ts";
import { withAccess } from "./access/requires.ts";
import type { ApiEnv, Authenticator } from "./http/context.ts";
import { createCursors } from "./http/input/cursor.ts";
import { arriving, bodyLimits, createGate, type Gate } from "./http/gate.ts";
import { createTurns } from "./http/body/turns.ts";
import { answerErrors } from "./http/answers/on-error.ts";
import { accessLog } from "./middleware/access-log.ts";
import { answerUnmatched } from "./middleware/method-not-allowed.ts";
import { hostGuard } from "./middleware/host-guard.ts";
import { originGuard } from "./middleware/origin-guard.ts";
import { pathGuard } from "./middleware/path-guard.ts";
import { requestId } from "./middleware/request-id.ts";
import { provisionRoutes } from "./openqueue/provision.ts";
import { openQueueRoutes } from "./openqueue/routes.ts";
import { dlqRoutes } from "./routes/dlq.ts";
import { docsRoutes } from "./routes/docs.ts";
import { healthRoutes } from "./routes/health.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { leaseRoutes } from "./routes/leases.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { openApiRoutes } from "./routes/openapi.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { submitRoutes } from "./routes/submit.ts";
import type { Services } from "./route/deps.ts";
import { addRoutes } from "./route/serve.ts";
import { routes } from "./routes.ts";

export type AppDeps = Services & {
  logger: Logger;
  gate?: Gate;
  /** What cursors are signed with, the same in every process; default: one of this app's own. */
  cursor_key?: Uint8Array;
  /** Bounds the large bodies that arrive at once. */
  bodies?: Gate;
  /** Default: answers to any name. */
  allowed_hosts?: HostRule | undefined;
  /** Default: anybody may do anything, as the default tenant. */
  authenticator?: Authenticator;
  /** Of each tenant; default: none. */
  rate_limit?: RateLimit | undefined;
};

/**
 * The HTTP API without a port: every route, and what surrounds them.
 *
 * @example
 * const response = await createApp(deps).request("/health");
 */
export function createApp(deps: AppDeps): Hono<ApiEnv> {
  const gate = deps.gate ?? createGate();
  const cursors = createCursors(deps.cursor_key ?? randomBytes(32));
  const app = new Hono<ApiEnv>();
  app.onError(answerErrors(deps));
  app.notFound(answerUnmatched(app));
  const bodies = deps.bodies ?? createGate(bodyLimits, arriving);
  const turns = createTurns();
  app.use(requestId, accessLog(deps.observe), pathGuard);
  const { authenticator = noAuthentication, rate_limit, observe } = deps;
  const access = { authenticator, limiter: rate_limit && createRateLimiter(deps, rate_limit), observe };
  app.use(withAccess(access));
  app.use((c, next) => {
    c.set("bodies", bodies);
    c.set("turns", turns);
    return next();
  });
  app.use(hostGuard(deps.allowed_hosts), originGuard(deps.allowed_hosts));
  app.route("/", healthRoutes(deps));
  app.route("/", metricsRoutes(deps));
  app.route("/", openApiRoutes());
  app.route("/", docsRoutes());
  addRoutes(app, routes, { ...deps, gate, cursors, access });
  const v1 = [submitRoutes, jobRoutes, leaseRoutes, dlqRoutes, scheduleRoutes];
  for (const old of v1) app.route("/v1", old({ ...deps, gate, cursors }));
  app.route("/", provisionRoutes({ ...deps, gate }));
  app.route("/", openQueueRoutes({ ...deps, gate, cursors }));
  return app;
}
