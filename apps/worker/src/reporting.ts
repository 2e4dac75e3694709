import { createLogger, type DestinationStream, type Logger } from "@atlasqueue/core";
import { loadTelemetry, type LoadedTelemetry } from "@atlasqueue/program";
import type { WorkerAppConfig } from "./config.ts";

export type Reporting = { logger: Logger; telemetry: LoadedTelemetry | undefined };

/** Where a worker process reports: its log, by default on stdout, and what its settings ask to be exported. */
export async function startReporting(
  { telemetry: wanted, log_level }: Pick<WorkerAppConfig, "telemetry" | "log_level">,
  log?: DestinationStream,
): Promise<Reporting> {
  const service = "atlasqueue-worker";
  const telemetry = await loadTelemetry(wanted, service, () => import("@atlasqueue/telemetry"));
  return { logger: createLogger(log_level, service, log, telemetry?.tap), telemetry };
}
