import { fileURLToPath } from "node:url";
import { createLogger, SettingError, type Logger, type Signal } from "@atlasqueue/core";
import type { WorkerAppConfig } from "./config.ts";
import { startFleet } from "./fleet.ts";
import { startWorkerApp } from "./start-worker-app.ts";

/** `stop` drains; it resolves with the exit code of the worst process when there are several. */
export type Workers = {
  metrics_url: string;
  stop(): Promise<number>;
  /** With `drain` set: resolves with the exit code when nothing was left to do and all have stopped. Else never. */
  finished: Promise<number>;
};

// The source runs as .ts in the workspace and as .js when published.
const main = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./main.ts" : "./main.js", import.meta.url));

const never = new Promise<never>(() => {});

/**
 * As many worker processes as the settings ask for: one is this process itself, several are children of it that are
 * given `env`. Their metrics ports are counted up from the first. `parts` are shared with others in this process.
 *
 * @example
 * const workers = await startWorkers(readWorkerConfig(process.env), process.env);
 */
export async function startWorkers(
  config: WorkerAppConfig,
  env: NodeJS.ProcessEnv,
  parts: { signal?: Signal; logger?: Logger } = {},
): Promise<Workers> {
  if (config.processes === 1) {
    const app = await startWorkerApp(config, parts);
    let stopped: Promise<number> | undefined;
    const stop = () => (stopped ??= app.stop().then(() => 0));
    const finished = config.drain ? app.empty(config.drain).then(stop) : never;
    return { metrics_url: app.metrics_url, stop, finished };
  }
  if (parts.signal)
    throw new SettingError(`WORKER_PROCESSES=${config.processes} needs Redis: signals in memory reach one process`);
  const { host, port } = config.metrics;
  const fleet = startFleet({
    processes: config.processes,
    file: main,
    env: (number) => ({
      ...env,
      WORKER_PROCESSES: "1",
      WORKER_METRICS_PORT: String(port === 0 ? 0 : port + number),
    }),
    ends: config.drain !== undefined,
    logger: parts.logger ?? createLogger(config.log_level, "atlasqueue-worker"),
  });
  return { metrics_url: `http://${host}:${port}/metrics`, stop: () => fleet.stop(), finished: fleet.finished };
}
