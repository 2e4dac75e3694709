import type { Database, Signal } from "@atlasqueue/core";
import { createReadiness, signalTrouble } from "@atlasqueue/core/internal";
import type { Worker } from "@atlasqueue/worker";
import type { Readiness } from "./messages.ts";

/**
 * Whether the worker can work: not without a Postgres that takes writes, nor while its consumer is stuck or no process
 * can be started for isolated handlers; `degraded`
 * without a Redis that takes writes, as it then looks into Postgres.
 */
export function workerReadiness(
  deps: { database: Database; signal: Signal },
  worker: () => Pick<Worker, "stuckForMs" | "withoutProcessForMs"> | undefined,
): () => Promise<Readiness> {
  const ask = createReadiness(deps);
  return async () => {
    const { postgres, redis } = await ask();
    const trouble = redis === "up" ? undefined : await signalTrouble(deps.signal);
    const stuck_ms = worker()?.stuckForMs() ?? 0;
    const without_ms = worker()?.withoutProcessForMs() ?? 0;
    const consumer = stuck_ms > 0 ? "stuck" : "up";
    const checks = { postgres, redis, consumer, processes: without_ms > 0 ? "not starting" : "up" };
    const ready = postgres === "up" && stuck_ms === 0 && without_ms === 0;
    const status = !ready ? "unavailable" : redis === "up" ? "ok" : "degraded";
    const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
    const reason =
      without_ms > 0
        ? { reason: `no process could be started for isolated handlers for ${seconds(without_ms)}` }
        : stuck_ms > 0
          ? { reason: `no job was taken for ${seconds(stuck_ms)}, though there was room` }
          : trouble === undefined
            ? {}
            : { reason: trouble };
    return { ready, body: { status, checks, connections: deps.database.connections(), ...reason } };
  };
}
