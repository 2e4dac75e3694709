import type { Scope } from "@atlasqueue/contract";

/** Things of a tenant, by their names. */
export type Ids = { job: string; lease_token: string; token: string; schedule: string };

/** A request that would do something, if these were the caller's own. */
export type Probe = {
  params?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
  /** It makes something of the caller's own that has the same name. */
  makes?: boolean;
  /** The answer repeats the ids that it was asked about. */
  echoes?: boolean;
};

/** What needs no token: what load balancers and Prometheus ask, and what has a secret of its own. */
export const openRoutes = [
  "GET /health",
  "GET /livez",
  "GET /readyz",
  "GET /ready",
  "GET /openapi.json",
  "GET /docs",
  "GET /docs/:file",
  "POST /admin/provision",
];

/** What tells of all tenants, to whoever has a token of the default one with `admin`. */
export const operatorRoutes = ["GET /metrics"];

const byJob = (scope: Scope, body?: (ids: Ids) => unknown) => ({
  scope,
  foreign: (ids: Ids): Probe => ({ params: { id: ids.job }, body: body?.(ids) }),
});
const byToken = (body?: unknown) => ({
  scope: "admin" as const,
  foreign: (ids: Ids): Probe => ({ params: { id: ids.token }, body }),
});
const bySchedule = (scope: Scope) => ({
  scope,
  foreign: ({ schedule }: Ids): Probe => ({ params: { name: schedule } }),
});
const definition = { cron: "0 0 * * *", job: { type: "a" } };
const own = (scope: Scope, probe: (ids: Ids) => Probe = () => ({})) => ({ scope, foreign: probe });

/** Every other route: the scope it needs, and how it looks to reach for another tenant's things through it. */
export const tenantRoutes: Record<string, { scope: Scope; foreign(ids: Ids): Probe }> = {
  // A key of another tenant is a key like any other.
  "POST /v1/jobs": own("submit", () => ({ body: { type: "a" }, headers: { "idempotency-key": "theirs" } })),
  "POST /v1/jobs/batch": own("submit", () => ({ body: { jobs: [{ type: "a", idempotency_key: "theirs" }] } })),
  "GET /v1/jobs": own("read"),
  "GET /v1/jobs/:id": byJob("read"),
  "GET /v1/jobs/:id/attempts": byJob("read"),
  "GET /v1/jobs/:id/explain": byJob("read"),
  "POST /v1/jobs/:id/cancel": byJob("submit"),
  "POST /v1/jobs/:id/retry": byJob("submit"),
  "POST /v1/queues/:queue/lease": own("work", () => ({ params: { queue: "theirs" }, body: { worker_id: "w" } })),
  "POST /v1/jobs/:id/ack": byJob("work", ({ lease_token }) => ({ lease_token })),
  "POST /v1/jobs/:id/nack": byJob("work", ({ lease_token }) => ({ lease_token, error: "no" })),
  "POST /v1/jobs/:id/heartbeat": byJob("work", ({ lease_token }) => ({ lease_token })),
  "POST /v1/leases/settle": own("work", ({ job, lease_token }) => ({
    body: { acks: [{ id: job, lease_token }], nacks: [] },
    echoes: true,
  })),
  "GET /v1/queues": own("read"),
  // A queue is there from its first mention on, so another tenant's is one of one's own.
  "POST /v1/queues/:queue/pause": own("admin", () => ({ params: { queue: "theirs" } })),
  "POST /v1/queues/:queue/resume": own("admin", () => ({ params: { queue: "theirs" } })),
  "GET /v1/workers": own("read"),
  "GET /v1/dlq": own("read"),
  "POST /v1/dlq/replay": own("admin", ({ job }) => ({ body: { ids: [job] } })),
  "POST /v1/dlq/purge": own("admin", ({ job }) => ({ body: { ids: [job] } })),
  "GET /v1/schedules": own("read"),
  "POST /v1/schedules": own("admin", ({ schedule }) => ({ body: { ...definition, name: schedule } })),
  "PUT /v1/schedules/:name": own("admin", ({ schedule }) => ({
    params: { name: schedule },
    body: definition,
    makes: true,
  })),
  "GET /v1/schedules/:name": bySchedule("read"),
  "POST /v1/schedules/:name/pause": bySchedule("admin"),
  "POST /v1/schedules/:name/resume": bySchedule("admin"),
  "DELETE /v1/schedules/:name": bySchedule("admin"),
  "PUT /v1/queues/:queue/limits": own("admin", () => ({ params: { queue: "theirs" }, body: {} })),
  "GET /v1/tokens": own("admin"),
  "POST /v1/tokens": own("admin", () => ({ body: { name: "mine", scopes: ["read"] } })),
  "POST /v1/tokens/:id/rotate": byToken({}),
  "DELETE /v1/tokens/:id": byToken(),
  "POST /jobs": own("submit", () => ({ body: { payload: {} }, headers: { "idempotency-key": "theirs too" } })),
  "POST /jobs/batch": own("submit", () => ({ body: { jobs: [{ payload: {} }] } })),
  "GET /jobs": own("read"),
  "GET /jobs/:id": byJob("read"),
  "GET /jobs/:id/detail": byJob("read"),
  "POST /jobs/:id/cancel": byJob("submit"),
  "POST /queues/:queue/lease": own("work", () => ({ params: { queue: "theirs" }, body: { worker_id: "w" } })),
  "POST /jobs/:id/ack": byJob("work", ({ lease_token }) => ({ lease_token })),
  "POST /jobs/:id/nack": byJob("work", ({ lease_token }) => ({ lease_token, error: "no" })),
  "POST /jobs/:id/heartbeat": byJob("work", ({ lease_token }) => ({ lease_token })),
  "GET /dashboard/queues": own("read"),
};
