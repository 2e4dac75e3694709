import { randomBytes } from "node:crypto";
import type { Logger } from "@atlasqueue/core";
import type { HostRule } from "@atlasqueue/program/hosts";
import { createReadiness } from "@atlasqueue/core/internal";
import { localPermits, type RateLimit } from "@atlasqueue/core/internal/http";
import { Hono } from "hono";
import type { BuiltDashboard } from "./dashboard/built.ts";
import { addGuide, type BuiltGuide } from "./dashboard/guide.ts";
import { addDashboard } from "./dashboard/serve.ts";
import { createDocs } from "./docs/docs.ts";
import { createAuditor } from "./audit/auditor.ts";
import { noAuthentication } from "./access/authenticate.ts";
import { createRateLimiter } from "./access/rate-limiter.ts";
import type { ApiEnv, Authenticator } from "./http/context.ts";
import type { Trusts } from "./http/input/address.ts";
import { createCursors } from "./http/input/cursor.ts";
import { createGate, searches_max } from "./http/gate.ts";
import { answerErrors } from "./http/answers/on-error.ts";
import { accessLog, traceRequests } from "./middleware/observed.ts";
import { answerUnmatched } from "./middleware/method-not-allowed.ts";
import { guard } from "./middleware/guards.ts";
import { openApiDocument } from "./openapi/document.ts";
import type { RouteDeps, Services } from "./route/deps.ts";
import { RememberingRouter } from "./route/router.ts";
import { addRoutes } from "./route/serve.ts";
import { operations, routes } from "./routes.ts";

type OwnParts = Pick<RouteDeps, "auditor" | "gate" | "networkPermits">;
export type AppDeps = Services & {
  logger: Logger;
  /** The key cursors are signed with, the same in every process; default: this app's own. */
  cursor_key?: Uint8Array;
  /** Default: answers to any name. */
  allowed_hosts?: HostRule | undefined;
  /** The origin that browsers see; default: that of the Host header. */
  public_origin?: string | undefined;
  /** The proxies whose X-Forwarded-For counts; default: none. */
  trusted_proxies?: Trusts | undefined;
  /** Default: anyone may do anything, as the default tenant. */
  authenticator?: Authenticator;
  /** Per tenant; default: none. */
  rate_limit?: RateLimit | undefined;
  /** The page at `/`; default: none. */
  dashboard?: BuiltDashboard | undefined;
  /** The documentation at `/guide`; default: none. */
  guide?: BuiltGuide | undefined;
} & Partial<OwnParts>;

/**
 * The HTTP API without a port: every route, and the middleware around them.
 *
 * @example
 * const response = await createApp(deps).request("/health");
 */
export function createApp(deps: AppDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>({ router: new RememberingRouter() });
  app.onError(answerErrors(deps));
  app.notFound(answerUnmatched(app));
  if (deps.tracing) app.use(traceRequests(deps.tracing));
  app.use(accessLog(deps.observe, deps.trusted_proxies), guard(deps.allowed_hosts, deps.public_origin));
  addRoutes(app, routes, routeDeps(deps));
  if (deps.dashboard) addDashboard(app, deps.dashboard);
  if (deps.guide) addGuide(app, deps.guide);
  return app;
}

/** What handlers are given, with what this app adds itself. */
export function routeDeps(deps: AppDeps): RouteDeps {
  const { authenticator = noAuthentication, rate_limit, observe } = deps;
  return {
    gate: createGate(),
    searches: createGate({ requests_max: searches_max, kept: 0 }, "searches under way"),
    cursors: createCursors(deps.cursor_key ?? randomBytes(32)),
    access: { authenticator, limiter: rate_limit && createRateLimiter(deps, rate_limit), observe },
    auditor: createAuditor(deps),
    readiness: createReadiness(deps),
    docs: createDocs(openApiDocument(operations)),
    networkPermits: localPermits(),
    ...deps,
  };
}
