import { fileURLToPath } from "node:url";
import { createLogger, type DestinationStream, type MemorySignal } from "@atlasqueue/core";
import { sharingPorts, startFleet, whenStarted, type Fleet } from "@atlasqueue/program";
import { z } from "zod";
import type { ApiConfig } from "../config.ts";
import { startApi } from "../start-api.ts";

export type Apis = {
  url: string;
  port: number;
  /** Whether the page is served at `/`: it is wanted, and was built. */
  dashboard: boolean;
  /** Several processes hold back their logs until then. */
  speak(): void;
  /** Finishes what is in flight, in all processes at once. Resolves with the worst exit code. */
  stop(): Promise<number>;
};

/** Without Redis, `signal` forwards wake-up marks between all processes; `log`: where the lines of this one go. `stop`, aborted, ends the start. */
export type ApisParts = { signal?: MemorySignal; log?: DestinationStream; stop?: AbortSignal };

const about = z.object({ url: z.string(), port: z.number(), dashboard: z.boolean() });

// The source runs as .ts in the workspace and as .js when published.
const member = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./member-main.ts" : "./member-main.js", import.meta.url),
);

/** How long what follows the last answer may take. */
const farewell_ms_max = 15_000;

/**
 * As many API processes on one port as the settings ask for: one is this process itself, several are its children, which
 * get `env`. One that dies or hangs is replaced, while the others take its connections. Rejects as `startApi` does, after
 * stopping the others, when one cannot start.
 *
 * @example
 * const apis = await startApis(readApiConfig(process.env), process.env);
 * apis.speak();
 */
export async function startApis(
  config: ApiConfig,
  env: NodeJS.ProcessEnv,
  { stop, ...parts }: ApisParts = {},
): Promise<Apis> {
  if (config.processes === 1) {
    const api = await startApi(config, parts);
    const { url, port, dashboard } = api;
    return { url, port, dashboard, speak: () => {}, stop: () => api.stop().then(() => 0) };
  }
  const fleet: Fleet<z.output<typeof about>> = startFleet({
    processes: config.processes,
    launch: sharingPorts(member),
    about,
    env: () => ({ ...env, API_PROCESSES: "1" }),
    signal: parts.signal,
    stop_ms_max: config.shutdown_ms + farewell_ms_max,
    hang_ms: config.hang_ms,
    logger: createLogger(config.log_level, "atlasqueue-api", parts.log),
  });
  const [first] = await whenStarted(fleet, stop);
  if (!first) throw new Error("a fleet has at least one process");
  return { ...first, speak: fleet.speak, stop: fleet.stop };
}
