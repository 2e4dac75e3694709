import { z } from "zod";
import type { Operation } from "../../route/operation.ts";

const readiness = z.strictObject({
  status: z.enum(["ok", "degraded", "unavailable"]),
  checks: z.strictObject({
    postgres: z.enum(["up", "read_only", "down"]),
    redis: z.enum(["up", "refusing", "down"]),
  }),
  connections: z
    .strictObject({ open: z.int(), busy: z.int(), max: z.int(), waiting: z.int() })
    .describe(
      "Of this process to PostgreSQL: how many are open, how many of those have a statement or a transaction under way, how many may be open, and how many statements wait for a free one. All of them busy and PostgreSQL `down` may mean that only this process has too much to do.",
    ),
});

const ready = (path: "/readyz" | "/ready", id: string): Operation => ({
  method: "get",
  path,
  id,
  tag: "Health and metrics",
  summary: path === "/ready" ? "The same as /readyz" : "Whether it can do its work",
  answers: {
    200: {
      description:
        "It can. `degraded` means that Redis is away or refuses writes: jobs are accepted all the same, and workers find them by their sweep.",
      schema: readiness,
      example: {
        status: "ok",
        checks: { postgres: "up", redis: "up" },
        connections: { open: 4, busy: 1, max: 10, waiting: 0 },
      },
    },
    503: {
      description: "PostgreSQL is away, or read-only.",
      schema: readiness,
      example: {
        status: "unavailable",
        checks: { postgres: "down", redis: "up" },
        connections: { open: 0, busy: 0, max: 10, waiting: 0 },
      },
    },
  },
  problems: [],
});

/** What orchestrators, load balancers and Prometheus ask. */
export const healthOperations: Operation[] = [
  {
    method: "get",
    path: "/health",
    id: "getHealth",
    tag: "Health and metrics",
    summary: "Whether the process runs",
    answers: {
      200: {
        description: "It does.",
        schema: z.strictObject({ status: z.literal("ok"), service: z.literal("atlasqueue-api") }),
        example: { status: "ok", service: "atlasqueue-api" },
      },
    },
    problems: [],
  },
  {
    method: "get",
    path: "/livez",
    id: "getLiveness",
    tag: "Health and metrics",
    summary: "Whether the process runs, for orchestrators",
    answers: {
      200: { description: "It does.", schema: z.strictObject({ status: z.literal("ok") }), example: { status: "ok" } },
    },
    problems: [],
  },
  ready("/readyz", "getReadiness"),
  ready("/ready", "getReady"),
  {
    method: "get",
    path: "/metrics",
    id: "getMetrics",
    tag: "Health and metrics",
    summary: "Counters and histograms; where tokens are asked for, for one of the default tenant with admin",
    scope: "admin",
    answers: {
      200: { description: "In the text format of Prometheus.", schema: z.string(), content_type: "text/plain" },
    },
    problems: [],
  },
];
