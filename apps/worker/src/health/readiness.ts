import type { Database, Signal } from "@atlasqueue/core";
import { createReadiness } from "@atlasqueue/core/internal";
import type { Worker } from "@atlasqueue/worker";
import type { Readiness } from "./messages.ts";

/**
 * Whether the worker can work: not without a Postgres that takes writes, nor while its consumer is stuck; `degraded`
 * without a Redis that takes writes, as it then looks into Postgres.
 */
export function workerReadiness(
  deps: { database: Database; signal: Signal },
  worker: () => Pick<Worker, "stuckForMs"> | undefined,
): () => Promise<Readiness> {
  const ask = createReadiness(deps);
  return async () => {
    const { postgres, redis } = await ask();
    const stuck_ms = worker()?.stuckForMs() ?? 0;
    const checks = { postgres, redis, consumer: stuck_ms > 0 ? "stuck" : "up" };
    const ready = postgres === "up" && stuck_ms === 0;
    const status = !ready ? "unavailable" : redis === "up" ? "ok" : "degraded";
    const reason =
      stuck_ms > 0 ? { reason: `no job was taken for ${Math.round(stuck_ms / 1_000)} s, though there was room` } : {};
    return { ready, body: { status, checks, connections: deps.database.connections(), ...reason } };
  };
}
