import { startOperation } from "@atlasqueue/contract";
import { openTelemetry } from "@atlasqueue/contract/opentelemetry";
import type { TelemetryConfig } from "@atlasqueue/program";
import { createLogger } from "@atlasqueue/core";
import { eventually, otlpReceiver } from "@atlasqueue/harness";
import { ProxyTracer, trace } from "@opentelemetry/api";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { startTelemetry } from "./index.ts";
import { troubleReporter } from "./trouble.ts";

const config = (endpoint: string): TelemetryConfig => ({
  endpoint,
  protocol: "http/json",
  service_name: undefined,
  sampler: { name: "parentbased_always_on", share: 1 },
  metrics_ms: 60_000,
  child_attempts: "first",
  create_spans: true,
});

async function started(service: string) {
  const collector = await otlpReceiver();
  onTestFinished(() => collector.close());
  return { collector, telemetry: startTelemetry(config(collector.url), service) };
}

const wish = { name: "one", kind: "client", attributes: {} } as const;

test("without an SDK tracing is off; one that is registered later turns it on, until it is gone", async () => {
  const tracing = openTelemetry();
  expect([tracing.on(), tracing.active()]).toEqual([false, undefined]);
  const { collector, telemetry } = await started("later");
  expect(tracing.on()).toBe(true);
  const span = tracing.start(wish);
  expect(span.active(() => tracing.active())).toEqual(span.context);
  span.end();
  await telemetry.stop();
  expect(collector.spans()).toMatchObject([{ service: "later", name: "one", kind: "client" }]);
  expect(trace.getTracer("any")).toBeInstanceOf(ProxyTracer);
  expect(tracing.on()).toBe(false);
});

test("what the sampler of the trace's beginning left out stays out, and is still passed on", async () => {
  const { collector, telemetry } = await started("sampled");
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  const span = telemetry.tracing.start({ ...wish, parent: { traceparent, tracestate: "a=1" } });
  expect(span.context).toMatchObject({
    traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/),
    tracestate: "a=1",
  });
  span.end();
  await telemetry.stop();
  expect(collector.spans()).toEqual([]);
});

test("a registry's metrics are exported under our names, with their units, and no one else's", async () => {
  const { collector, telemetry } = await started("metrics");
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "atlasqueue_things_total", help: "Things", labelNames: ["kind"], registers }).inc(
    { kind: "a" },
    3,
  );
  new Gauge({ name: "atlasqueue_oldest_age_seconds", help: "Age", registers }).set(1.5);
  new Gauge({ name: "nodejs_something", help: "Not ours", registers }).set(1);
  const histogram = new Histogram({ name: "atlasqueue_wait_seconds", help: "Wait", buckets: [1, 2], registers });
  for (const value of [0.5, 1.5, 1.6, 9]) histogram.observe(value);
  telemetry.addMetrics(registry);
  await telemetry.stop();
  const [things, age, wait, ...others] = collector.metrics();
  expect(things).toMatchObject({ name: "atlasqueue.things", unit: "1", kind: "sum", points: [{ value: 3 }] });
  expect(things?.points[0]?.attributes).toEqual({ kind: "a" });
  expect(age).toMatchObject({ name: "atlasqueue.oldest.age", unit: "s", kind: "gauge", points: [{ value: 1.5 }] });
  expect(wait).toMatchObject({
    name: "atlasqueue.wait",
    unit: "s",
    kind: "histogram",
    points: [{ value: 12.6, count: 4 }],
  });
  expect(others).toEqual([]);
  const [document] = collector.requests.filter(({ path }) => path === "/v1/metrics").map(({ body }) => body);
  expect(document).toContain('"bucketCounts":[1,2,1]');
});

test("one tenant's queues and errors do not fill the metrics, and another's still have names", async () => {
  const { collector, telemetry } = await started("few");
  const { tracing } = telemetry;
  const process = (tenant: string, queue: string, type: string) =>
    startOperation(tracing, "process", { tenant, queue }).end({ type });
  for (let at = 0; at < 1_000; at += 1) process("greedy", `queue-${at}`, `Error${at}`);
  process("modest", "mails", "TypeError");
  await telemetry.stop();
  const measured = collector.metrics().find(({ name }) => name === "messaging.process.duration");
  const named = (attribute: string) => new Set(measured?.points.map(({ attributes }) => attributes[attribute]));
  const queues = named("messaging.destination.name");
  expect(queues.size).toBeLessThanOrEqual(200);
  expect([...queues]).toEqual(expect.arrayContaining(["queue-0", "mails", "_OTHER"]));
  expect(named("error.type").size).toBeLessThanOrEqual(50);
  expect([...named("error.type")]).toEqual(expect.arrayContaining(["Error0", "TypeError", "_OTHER"]));
  // A span has the name all the same.
  expect(collector.spans().map(({ name }) => name)).toContain("process queue-999");
});

test("log lines carry the span they were written in, and are exported with their fields", async () => {
  const { collector, telemetry } = await started("logs");
  const lines: string[] = [];
  const logger = createLogger("info", "logs", { write: (line) => void lines.push(line) }, telemetry.tap);
  const span = telemetry.tracing.start(wish);
  span.active(() => logger.warn({ event: "odd", job_id: "7", nested: { a: 1 } }, "it is odd\u0000"));
  logger.info({ event: "first", job_id: "8" }, "outside");
  logger.info("outside again");
  span.end();
  await telemetry.stop();
  const [, trace_id, span_id] = span.context?.traceparent.split("-") ?? [];
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { trace_id, span_id, event: "odd" },
    { event: "first" },
    { msg: "outside again" },
  ]);
  for (const line of lines.slice(1)) expect(line).not.toContain("trace_id");
  expect(lines[2]).not.toContain("job_id");
  expect(collector.logs()).toMatchObject([
    { body: "it is odd\u0000", severity: "WARN", trace_id, span_id, attributes: { job_id: "7", nested: '{"a":1}' } },
    { body: "outside", severity: "INFO", trace_id: "" },
    { body: "outside again", attributes: {} },
  ]);
});

test("what does not fit while the collector is silent is dropped; a stop is quick", { tags: ["slow"] }, async () => {
  const collector = await otlpReceiver(() => new Promise(() => {}));
  onTestFinished(() => collector.close());
  const telemetry = startTelemetry(config(collector.url), "stuck");
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 100_000; at += 1) telemetry.tracing.start(wish).end();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(150 * 1_048_576);
  await eventually(() => collector.requests.length > 0);
  const began = performance.now();
  await telemetry.stop();
  expect(performance.now() - began).toBeLessThan(10_000);
});

test("all that fits while nothing was sent yet is sent at the stop", async () => {
  const { collector, telemetry } = await started("full");
  const logger = createLogger("info", "full", { write: () => {} }, telemetry.tap);
  // In one turn of the event loop: no timer sends a batch in between.
  for (let at = 0; at < 4_096; at += 1) {
    telemetry.tracing.start({ ...wish, name: `span ${at}` }).end();
    logger.info(`line ${at}`);
  }
  await telemetry.stop();
  expect(new Set(collector.spans().map(({ name }) => name)).size).toBe(4_096);
  expect(new Set(collector.logs().map(({ body }) => body)).size).toBe(4_096);
});

test("what the SDK complains about is a line a minute, with how many it stands for", () => {
  const written: string[] = [];
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  onTestFinished(() => stderr.mockRestore());
  let now = 0;
  const { error } = troubleReporter("test", () => now);
  for (const message of ["first", "second", "third"]) error(message);
  now = 60_000;
  error("later\nline", new Error("why"));
  const lines = written.map((line) => JSON.parse(line) as object);
  expect(lines).toMatchObject([
    { error: "first", unsaid: 0 },
    { error: "later\nline Error: why", unsaid: 2 },
  ]);
  expect(written.every((line) => line.indexOf("\n") === line.length - 1)).toBe(true);
});
