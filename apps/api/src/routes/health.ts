import { SignalUnavailableError, defaultTenant, type Database, type Signal } from "@atlasqueue/core";
import { Hono } from "hono";
import { askDatabase } from "../check-database.ts";
import { answerJson } from "../http/answer.ts";
import type { ApiContext, ApiEnv } from "../http/context.ts";

type Check = "up" | "down";

const postgres_ms_max = 1_000;

/**
 * `/health` and `/livez` say that the process runs; `/readyz` whether it can do its work: 503 without Postgres, and
 * `degraded` without Redis, as jobs are then still accepted and found by the sweep.
 */
export function healthRoutes(deps: { database: Database; signal: Signal }): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();
  routes.get("/health", (c) => answerJson(c, 200, { status: "ok", service: "atlasqueue-api" }));
  routes.get("/livez", (c) => answerJson(c, 200, { status: "ok" }));

  const ready = async (c: ApiContext) => {
    const [postgres, redis] = await Promise.all([askPostgres(deps.database), askSignal(deps.signal)]);
    const status = postgres === "down" ? "unavailable" : redis === "down" ? "degraded" : "ok";
    return answerJson(c, postgres === "down" ? 503 : 200, { status, checks: { postgres, redis } });
  };
  routes.get("/readyz", ready);
  routes.get("/ready", ready);
  return routes;
}

/** Whatever the reason: without an answer in time there is nothing to be ready for. */
async function askPostgres(database: Database): Promise<Check> {
  try {
    await askDatabase({ ...database, timeout_ms: Math.min(database.timeout_ms, postgres_ms_max) });
    return "up";
  } catch {
    return "down";
  }
}

/** A call, as a Redis that hangs keeps its connection open. */
async function askSignal(signal: Signal): Promise<Check> {
  try {
    await signal.look({ tenant: defaultTenant, queue: "default" });
    return "up";
  } catch (error) {
    if (error instanceof SignalUnavailableError) return "down";
    throw error;
  }
}
