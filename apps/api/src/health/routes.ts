import { describeFields, readiness } from "@atlasqueue/contract";
import { sharedRedis, signalTrouble } from "@atlasqueue/core/internal";
import { z } from "zod";
import { probeTag, type Operation } from "../route/operation.ts";
import { ok } from "../route/answers.ts";
import { route } from "../route/route.ts";

const probe = { tag: probeTag, gate: "own", any_query: true } as const;

const running = "The process is running.";
const alive = describeFields(z.strictObject({ status: z.literal("ok") }), { status: "Always `ok`." });
const named = describeFields(alive.extend({ service: z.literal("atlasqueue-api") }), {
  status: "Always `ok`.",
  service: "The name of this program.",
});

const health = route(
  {
    ...probe,
    at: "GET /health",
    id: "getHealth",
    summary: "Health check",
    answers: ok(running, named, { status: "ok", service: "atlasqueue-api" }),
  },
  () => ({ status: "ok", service: "atlasqueue-api" }),
);

const liveness = route(
  {
    ...probe,
    at: "GET /livez",
    id: "getLiveness",
    summary: "Liveness check",
    answers: ok(running, alive, { status: "ok" }),
  },
  () => ({ status: "ok" }),
);

const readyAnswers = {
  200: {
    description:
      "It can do its work. `degraded` means that Redis is unavailable or refuses writes: jobs are still accepted, and workers find them in PostgreSQL, about once a second.",
    schema: readiness,
    example: {
      status: "ok",
      checks: { postgres: "up", redis: "up" },
      connections: { open: 4, busy: 1, max: 10, waiting: 0 },
    },
  },
  503: {
    description: "PostgreSQL is unavailable or read-only, or another database uses this Redis and had it first.",
    schema: readiness,
    example: {
      status: "unavailable",
      checks: { postgres: "down", redis: "up" },
      connections: { open: 0, busy: 0, max: 10, waiting: 0 },
    },
  },
} satisfies Operation["answers"];

/**
 * `degraded` without a Redis that takes writes, as jobs are then still accepted and found by the sweep. The pool's
 * numbers tell an absent server from a process whose connections are all busy.
 */
const ready = (path: "/readyz" | "/ready", id: string) =>
  route(
    {
      ...probe,
      at: `GET ${path}`,
      id,
      summary: path === "/ready" ? "The same as /readyz" : "Readiness check",
      answers: readyAnswers,
    },
    async ({ deps }) => {
      const checks = await deps.readiness();
      const connections = deps.database.connections();
      if (deps.isRefused?.())
        return { status: 503, body: { status: "unavailable", checks, connections, reason: sharedRedis } };
      if (checks.postgres !== "up") return { status: 503, body: { status: "unavailable", checks, connections } };
      if (checks.redis === "up") return { status: 200, body: { status: "ok", checks, connections } };
      const reason = await signalTrouble(deps.signal);
      return { status: 200, body: { status: "degraded", checks, connections, ...(reason && { reason }) } };
    },
  );

const metrics = route(
  {
    ...probe,
    at: "GET /metrics",
    id: "getMetrics",
    summary: "Get metrics for Prometheus",
    scope: "metrics",
    // It shows the types of all tenants' jobs.
    all_tenants: true,
    answers: {
      200: { description: "In the text format of Prometheus.", schema: z.string(), content_type: "text/plain" },
    },
  },
  async ({ deps }) => ({
    body: await deps.metricsPage(),
    content_type: "text/plain; version=0.0.4; charset=utf-8",
  }),
);

/** What orchestrators, load balancers and Prometheus ask. */
export const healthRoutes = [health, liveness, ready("/readyz", "getReadiness"), ready("/ready", "getReady"), metrics];
