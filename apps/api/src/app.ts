import type { Logger, Metrics } from "@atlasqueue/core";
import { Hono } from "hono";
import type { ApiEnv } from "./http/context.ts";
import { createGate, type Gate } from "./http/gate.ts";
import { answerErrors } from "./http/on-error.ts";
import { accessLog } from "./middleware/access-log.ts";
import { answerUnmatched } from "./middleware/method-not-allowed.ts";
import { hostGuard } from "./middleware/host-guard.ts";
import { pathGuard } from "./middleware/path-guard.ts";
import { requestId } from "./middleware/request-id.ts";
import { healthRoutes } from "./routes/health.ts";
import { jobRoutes, type JobRouteDeps } from "./routes/jobs.ts";
import { leaseRoutes, type LeaseRouteDeps } from "./routes/leases.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { queueRoutes } from "./routes/queues.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { submitRoutes, type SubmitRouteDeps } from "./routes/submit.ts";

export type AppDeps = Omit<SubmitRouteDeps & JobRouteDeps & LeaseRouteDeps, "gate"> & {
  logger: Logger;
  gate?: Gate;
  loopback_hosts_only?: boolean;
} & Pick<Metrics, "registry">;

/**
 * The HTTP API without a port: every route, and what surrounds them.
 *
 * @example
 * const response = await createApp(deps).request("/health");
 */
export function createApp(deps: AppDeps): Hono<ApiEnv> {
  const gate = deps.gate ?? createGate();
  const app = new Hono<ApiEnv>();
  app.onError(answerErrors(deps));
  app.notFound(answerUnmatched(app));
  app.use(requestId, accessLog(deps.observe), pathGuard);
  if (deps.loopback_hosts_only) app.use(hostGuard);
  app.route("/", healthRoutes(deps));
  app.route("/", metricsRoutes(deps));
  for (const routes of [submitRoutes, jobRoutes, leaseRoutes, queueRoutes, scheduleRoutes])
    app.route("/v1", routes({ ...deps, gate }));
  return app;
}
