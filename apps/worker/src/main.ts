import { fileURLToPath } from "node:url";
import { createLogger, exitOnTrouble, stopOnSignals } from "@atlasqueue/core";
import { readWorkerConfig, type WorkerAppConfig } from "./config.ts";
import { startFleet } from "./fleet.ts";
import { startWorkerApp } from "./start-worker-app.ts";

const config = await exitOnTrouble(async () => readWorkerConfig(process.env));
if (config.processes === 1) {
  const app = await exitOnTrouble(() => startWorkerApp(config));
  stopOnSignals(() => app.stop());
  // A child of a fleet: without its parent nobody would stop it.
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
} else {
  const fleet = startFleet({
    processes: config.processes,
    file: fileURLToPath(import.meta.url),
    env: (number) => childEnv(config, number),
    logger: createLogger(config.log_level, "atlasqueue-worker"),
  });
  stopOnSignals(() => fleet.stop());
}

/** Each process has its own metrics port, counted up from the first. */
function childEnv({ metrics }: WorkerAppConfig, number: number): NodeJS.ProcessEnv {
  return {
    ...process.env,
    WORKER_PROCESSES: "1",
    WORKER_METRICS_PORT: String(metrics.port === 0 ? 0 : metrics.port + number),
  };
}
