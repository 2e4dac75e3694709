import type { Database, Signal } from "@atlasqueue/core";
import { createReadiness } from "@atlasqueue/core/internal";
import { Hono } from "hono";
import { answerJson } from "../http/answers/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";

/**
 * `/health` and `/livez` say that the process runs; `/readyz` whether it can do its work: 503 without a Postgres that takes
 * writes, and `degraded` without a Redis that does, as jobs are then still accepted and found by the sweep. The pool's
 * numbers tell a server that is away from a process all of whose connections are busy.
 */
export function healthRoutes(deps: { database: Database; signal: Signal }): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get("/health", (c) => answerJson(c, 200, { status: "ok", service: "atlasqueue-api" }));
  routes.get("/livez", (c) => answerJson(c, 200, { status: "ok" }));

  const ask = createReadiness(deps);
  const ready = async (c: ApiContext) => {
    const checks = await ask();
    const status = checks.postgres !== "up" ? "unavailable" : checks.redis !== "up" ? "degraded" : "ok";
    return answerJson(c, status === "unavailable" ? 503 : 200, {
      status,
      checks,
      connections: deps.database.connections(),
    });
  };
  routes.get("/readyz", ready);
  routes.get("/ready", ready);
  return routes;
}
