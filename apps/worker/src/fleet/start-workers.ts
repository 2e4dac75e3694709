import { fileURLToPath } from "node:url";
import { createLogger, type Logger, type MemorySignal } from "@atlasqueue/core";
import { apart, startFleet, whenStarted, type Fleet } from "@atlasqueue/program";
import { captureOutput } from "@atlasqueue/worker";
import { z } from "zod";
import type { WorkerAppConfig } from "../config.ts";
import { startWorkerApp } from "../start-worker-app.ts";
import { startReporting } from "../reporting.ts";
import { createEndOfProcess } from "./end-of-process.ts";
import { strayOutput } from "./stray-output.ts";

/** `stop` drains; it resolves with the exit code of the worst process when there are several. */
export type Workers = {
  metrics_url: string;
  stop(): Promise<number>;
  /**
   * Resolves with the exit code when all have stopped by themselves: with `drain` set, when nothing is left to do; in one
   * process, with 1, when another database has its Redis.
   */
  finished: Promise<number>;
};

/** Workers in separate processes hold back their logs until `speak`. */
export type WorkerProcesses = Workers & Pick<Fleet<unknown>, "speak">;

const about = z.object({ metrics_url: z.string(), worker_id: z.string() });

// The source runs as .ts in the workspace and as .js when published.
const member = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./member-main.ts" : "./member-main.js", import.meta.url),
);

const never = new Promise<never>(() => {});
/** How long a worker's last words to the database may take, beyond its own deadline. */
const farewell_ms_max = 15_000;

/**
 * As many worker processes as the settings ask for: one is this process itself, several are its children, which get
 * `env`. Their metrics ports count up from the first. Aborting `stop` ends the start of several.
 *
 * @example
 * const workers = await startWorkers(readWorkerConfig(process.env), process.env);
 */
export async function startWorkers(
  config: WorkerAppConfig,
  env: NodeJS.ProcessEnv,
  stop?: AbortSignal,
): Promise<Workers> {
  if (config.processes > 1) {
    const logger = createLogger(config.log_level, "atlasqueue-worker");
    const workers = await startWorkerProcesses(config, env, { logger, stop });
    workers.speak();
    return workers;
  }
  const reporting = await startReporting(config);
  const letGo = captureOutput(strayOutput(reporting.logger));
  const app = await startWorkerApp(config, reporting).catch((error: unknown) => {
    letGo();
    throw error;
  });
  let stopped: Promise<number> | undefined;
  const stopApp = () =>
    (stopped ??= app.stop().then(() => {
      letGo();
      return 0;
    }));
  const refused = app.refused.then(async () => (await stopApp(), 1));
  const finished = Promise.race([refused, config.drain ? app.empty(config.drain).then(stopApp) : never]);
  return { metrics_url: app.metrics_url, stop: stopApp, finished };
}

/**
 * As many worker processes as the settings ask for, at least one, all of them children of this one: whatever a handler
 * does to its process, this one goes on, ends its leases and starts another. Without Redis, `signal` forwards wake-up
 * marks between them. Rejects, after stopping them, when one cannot start.
 */
export async function startWorkerProcesses(
  config: WorkerAppConfig,
  env: NodeJS.ProcessEnv,
  { logger, signal, stop }: { logger: Logger; signal?: MemorySignal | undefined; stop?: AbortSignal | undefined },
): Promise<WorkerProcesses> {
  const { port } = config.metrics;
  const ends = config.cells.map(({ database }) => createEndOfProcess(database, logger));
  const closeEnds = () => Promise.all(ends.map((one) => one.close()));
  const fleet = startFleet({
    processes: config.processes,
    launch: apart(member),
    about,
    env: (number) => ({ ...env, WORKER_PROCESSES: "1", WORKER_METRICS_PORT: String(port === 0 ? 0 : port + number) }),
    ends: config.drain !== undefined,
    died({ worker_id }) {
      for (const one of ends) one.ended(worker_id);
    },
    signal,
    stop_ms_max: config.shutdown_ms + farewell_ms_max,
    hang_ms: config.hang_ms,
    logger,
  });
  const [first] = await whenStarted(fleet, stop).catch(async (error: unknown) => {
    await closeEnds();
    throw error;
  });
  const stopAll = async (): Promise<number> => {
    const code = await fleet.stop();
    await closeEnds();
    return code;
  };
  return { metrics_url: first?.metrics_url ?? "", stop: stopAll, finished: fleet.finished, speak: fleet.speak };
}
