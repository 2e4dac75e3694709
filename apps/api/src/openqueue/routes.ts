import { Hono } from "hono";
import type { ApiEnv } from "../http/context.ts";
import type { JobRouteDeps } from "../routes/jobs.ts";
import type { LeaseRouteDeps } from "../routes/leases.ts";
import type { SubmitRouteDeps } from "../routes/submit.ts";
import { openQueueDashboardRoutes } from "./dashboard.ts";
import { openQueueJobRoutes } from "./jobs.ts";
import { openQueueLeaseRoutes } from "./leases.ts";
import { openQueueSubmitRoutes } from "./submit.ts";

/**
 * OpenQueue's wire format over the jobs of /v1, for clients that speak it. Everything that happens to a job happens in
 * the same transitions; here are only other names for it.
 *
 * @example
 * app.route("/", openQueueRoutes({ ...deps, gate }));
 */
export function openQueueRoutes(deps: SubmitRouteDeps & JobRouteDeps & LeaseRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.route("/", openQueueSubmitRoutes(deps));
  routes.route("/", openQueueJobRoutes(deps));
  routes.route("/", openQueueLeaseRoutes(deps));
  routes.route("/", openQueueDashboardRoutes(deps));
  return routes;
}
