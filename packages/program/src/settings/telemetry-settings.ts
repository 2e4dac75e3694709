import type { ChildAttempts } from "@atlasqueue/contract";
import type { z } from "zod";
import { setting } from "./settings.ts";

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
const children = ["first", "all", "none"] as const satisfies readonly ChildAttempts[];
const protocols = ["http/protobuf", "http/json"] as const;

/**
 * The settings of every program that can export telemetry. The names that begin with OTEL_ are OpenTelemetry's; others of
 * its (headers, timeout, compression, certificates, resource attributes) are read by its exporters themselves.
 */
export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.httpUrl().optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting.oneOf(protocols).default("http/protobuf"),
  OTEL_SERVICE_NAME: setting.text().optional(),
  OTEL_TRACES_SAMPLER: setting.oneOf(samplers).default("parentbased_always_on"),
  OTEL_TRACES_SAMPLER_ARG: setting.share().default(1),
  OTEL_METRIC_EXPORT_INTERVAL: setting.integer(100, 86_400_000).default(60_000),
  TRACE_CHILD_ATTEMPTS: setting.oneOf(children).default("first"),
  TRACE_CREATE_SPANS: setting.flag().default(true),
};

/**
 * The environment without OpenTelemetry's variables, unless they are for us: without an endpoint, they may be another
 * SDK's in the same process, and have values that ours does not take.
 *
 * @example
 * parseSettings(apiSettings, withOwnTelemetry(env));
 */
export function withOwnTelemetry(env: Record<string, string | undefined>): Record<string, string | undefined> {
  if (env["OTEL_EXPORTER_OTLP_ENDPOINT"]) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("OTEL_")));
}

/** Undefined without an endpoint: then nothing is exported, and nothing loaded for it. */
export function telemetryConfig(set: z.output<z.ZodObject<typeof telemetrySettings>>) {
  const endpoint = set.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return { telemetry: undefined };
  const telemetry = {
    /** Where the collector is, without the paths of the signals. */
    endpoint: endpoint.replace(/\/+$/, ""),
    protocol: set.OTEL_EXPORTER_OTLP_PROTOCOL,
    /** Default: the program's own name. */
    service_name: set.OTEL_SERVICE_NAME,
    sampler: { name: set.OTEL_TRACES_SAMPLER, share: set.OTEL_TRACES_SAMPLER_ARG },
    metrics_ms: set.OTEL_METRIC_EXPORT_INTERVAL,
    child_attempts: set.TRACE_CHILD_ATTEMPTS,
    create_spans: set.TRACE_CREATE_SPANS,
  };
  return { telemetry };
}
export type TelemetryConfig = NonNullable<ReturnType<typeof telemetryConfig>["telemetry"]>;
