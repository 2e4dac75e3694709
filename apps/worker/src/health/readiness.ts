import type { Database, Signal } from "@atlasqueue/core";
import { createReadiness, signalTrouble } from "@atlasqueue/core/internal";
import type { Worker } from "@atlasqueue/worker";
import type { Readiness } from "./messages.ts";

type Cell = { cell?: string | undefined; database: Database; signal: Signal };
type Watched = Pick<Worker, "stuckForMs" | "withoutProcessForMs"> | undefined;

/**
 * Whether the worker can work: not without a Postgres that takes writes, nor while its consumer is stuck or no process
 * can be started for isolated handlers; `degraded`
 * without a Redis that takes writes, as it then looks into Postgres. Of several cells one is enough, and what is said is about
 * the one that is worst off.
 */
export function workerReadiness(cells: readonly Cell[], workerOf: (at: number) => Watched): () => Promise<Readiness> {
  const asks = cells.map((one, at) => readinessOf(one, () => workerOf(at)));
  return async () => {
    const all = await Promise.all(asks.map((ask) => ask()));
    const worst = all.find(({ ready }) => !ready) ?? all.find(({ body }) => body["status"] !== "ok") ?? all[0];
    if (!worst) throw new Error("a worker has at least one cell");
    if (worst.ready || !all.some(({ ready }) => ready)) return worst;
    return { ready: true, body: { ...worst.body, status: "degraded" } };
  };
}

function readinessOf({ cell, ...deps }: Cell, worker: () => Watched): () => Promise<Readiness> {
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
    const named = cell === undefined ? {} : { cell };
    return { ready, body: { status, ...named, checks, connections: deps.database.connections(), ...reason } };
  };
}
