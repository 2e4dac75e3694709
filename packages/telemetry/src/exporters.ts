import type { TelemetryConfig } from "@atlasqueue/program";
import { OTLPLogExporter as JsonLogs } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtobufLogs } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter as JsonMetrics } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufMetrics } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraces } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufTraces } from "@opentelemetry/exporter-trace-otlp-proto";

/**
 * Requests of one signal under way at once: a collector that never answers must not hold more than that. A flush sends
 * all batches of a full queue (8) together, besides one that may be under way; the exporter refuses any beyond this.
 */
const requests_max = 9;

/** One exporter for each signal, to the paths that OTLP gives them. */
export function exportersFor({ endpoint, protocol }: Pick<TelemetryConfig, "endpoint" | "protocol">) {
  const to = (signal: string) => ({ url: `${endpoint}/v1/${signal}`, concurrencyLimit: requests_max });
  const json = protocol === "http/json";
  return {
    spans: json ? new JsonTraces(to("traces")) : new ProtobufTraces(to("traces")),
    measures: json ? new JsonMetrics(to("metrics")) : new ProtobufMetrics(to("metrics")),
    records: json ? new JsonLogs(to("logs")) : new ProtobufLogs(to("logs")),
  };
}
