import { hostname } from "node:os";
import { context, diag, DiagLogLevel, logs, metrics, propagation, trace } from "@opentelemetry/api";
import { openTelemetry } from "@atlasqueue/contract/opentelemetry";
import type { LoadedTelemetry, TelemetryConfig } from "@atlasqueue/program";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { detectResources, envDetector, resourceFromAttributes, type Resource } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { exportersFor } from "./exporters.ts";
import { createLogTap } from "./log-tap.ts";
import { registryProducer } from "./metrics/registry-producer.ts";
import { samplerFor } from "./sampler.ts";
import { troubleReporter } from "./trouble.ts";

/** What is kept while the collector is slow or away; more is dropped, and nothing waits for it. */
const queue_max = 4_096;
const batch_max = 512;
const delay_ms = 1_000;
const export_ms_max = 10_000;
/** How long the last words may take. */
const farewell_ms_max = 3_000;

/**
 * Export the traces, metrics and logs of this process to an OTLP collector, and register the SDK, so that the spans of
 * handlers and of what they use go there as well. Once in a process.
 *
 * @example
 * const telemetry = startTelemetry(config, "atlasqueue-worker");
 * await telemetry.stop();
 */
export function startTelemetry(config: TelemetryConfig, service: string): LoadedTelemetry {
  const trouble = troubleReporter(service);
  diag.setLogger(trouble, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const resource = resourceOf(config, service);
  const { spans, measures, records } = exportersFor(config);
  const batches = {
    maxQueueSize: queue_max,
    maxExportBatchSize: batch_max,
    scheduledDelayMillis: delay_ms,
    exportTimeoutMillis: export_ms_max,
  };
  const tracers = new TracerProvider({
    resource,
    sampler: samplerFor(config.sampler),
    spanProcessors: [new BatchSpanProcessor({ exporter: spans, ...batches })],
  });
  const producer = registryProducer(resource);
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: measures,
        exportIntervalMillis: config.metrics_ms,
        exportTimeoutMillis: Math.min(export_ms_max, config.metrics_ms),
        metricProducers: [producer],
      }),
    ],
  });
  const loggers = new LoggerProvider({
    resource,
    processors: [new BatchLogRecordProcessor({ exporter: records, ...batches })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(tracers);
  metrics.setGlobalMeterProvider(meters);
  logs.setGlobalLoggerProvider(loggers);

  const shutDown = async (): Promise<void> => {
    const late = AbortSignal.timeout(farewell_ms_max);
    const over = new Promise<void>((resolve) => late.addEventListener("abort", () => resolve(), { once: true }));
    // The timeout alone would not keep the process alive, nor would the exporters' sockets.
    const alive = setTimeout(() => {}, farewell_ms_max);
    const sent = [tracers, meters, loggers].map((one) =>
      one.shutdown().catch((error: unknown) => trouble.error(String(error))),
    );
    await Promise.race([Promise.all(sent), over]);
    clearTimeout(alive);
    for (const api of [trace, metrics, logs, propagation, context, diag]) api.disable();
  };
  let stopped: Promise<void> | undefined;
  return {
    tracing: openTelemetry({ childAttempts: config.child_attempts, createSpans: config.create_spans }),
    addMetrics: producer.add,
    tap: createLogTap(loggers.getLogger("atlasqueue")),
    stop: () => (stopped ??= shutDown()),
  };
}

/** `OTEL_RESOURCE_ATTRIBUTES` adds to what we say, and wins over it. */
function resourceOf({ service_name }: TelemetryConfig, service: string): Resource {
  const own = resourceFromAttributes({
    "service.name": service_name ?? service,
    "service.instance.id": `${hostname()}-${process.pid}`,
    "host.name": hostname(),
    "process.pid": process.pid,
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}
