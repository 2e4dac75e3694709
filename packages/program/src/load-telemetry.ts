import type { Tracing } from "@atlasqueue/contract";
import type { Registry } from "prom-client";
import type { LogTap } from "@atlasqueue/core";
import { SettingError } from "@atlasqueue/core/internal/program";
import type { TelemetryConfig } from "./settings/telemetry-settings.ts";

/** What a program exports, once the package that does it is loaded. */
export type LoadedTelemetry = {
  tracing: Tracing;
  /** From now on the metrics of a registry are exported too. */
  addMetrics(registry: Registry): void;
  /** For `createLogger`: lines carry the trace they belong to, and are exported as well. */
  tap: LogTap;
  /** Sends what is left, for at most a few seconds. */
  stop(): Promise<void>;
};

type Package = { startTelemetry(config: TelemetryConfig, service: string): LoadedTelemetry };

/**
 * What `OTEL_EXPORTER_OTLP_ENDPOINT` asks for; undefined without it, and then nothing is loaded. Throws `SettingError`
 * when the package is not installed, as it is optional.
 *
 * @example
 * const telemetry = await loadTelemetry(config.telemetry, "atlasqueue-api", () => import(name));
 */
export async function loadTelemetry(
  config: TelemetryConfig | undefined,
  service: string,
  load: () => Promise<Package>,
): Promise<LoadedTelemetry | undefined> {
  if (!config) return undefined;
  try {
    return (await load()).startTelemetry(config, service);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new SettingError(
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, and needs a package that is not installed: ${(error as Error).message}`,
    );
  }
}
