import { fileURLToPath } from "node:url";
import type { Job, LeaseAnswer } from "@atlasqueue/contract";
import { createClient } from "@atlasqueue/client";
import { openTelemetry } from "@atlasqueue/client/opentelemetry";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually, otlpReceiver, type OtlpReceiver, type ReceivedSpan } from "../src/index.ts";
import { startSystem, type Api, type System } from "./system.ts";
import { startTelemetry } from "@atlasqueue/telemetry";

const handlers = fileURLToPath(new URL("../test/traced-handlers.ts", import.meta.url));
/** As curl would send it: the ids of W3C's own example. */
const begun = { trace_id: "0af7651916cd43dd8448eb211c80319c", span_id: "b7ad6b7169203331" };
const traceparent = `00-${begun.trace_id}-${begun.span_id}-01`;

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const exporting = (collector: OtlpReceiver) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_METRIC_EXPORT_INTERVAL: "500",
});

async function collect(): Promise<OtlpReceiver> {
  const collector = await otlpReceiver();
  onTestFinished(() => collector.close());
  return collector;
}

async function submitTraced(api: Api, job: object, headers: Record<string, string>): Promise<Job> {
  const answer = await fetch(`${api.url}/v1/jobs`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID(), ...headers },
    body: JSON.stringify(job),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Job;
}

test("a trace begun by a curl is one tree through submit, a failing attempt, its retry, a child job and a remote worker", async () => {
  const collector = await collect();
  const env = exporting(collector);
  const api = await system.startApi(env);
  const worker = await system.startWorker({ ...env, WORKER_HANDLERS: handlers });
  const telemetry = startTelemetry(
    {
      endpoint: collector.url,
      protocol: "http/json",
      service_name: "remote",
      sampler: { name: "parentbased_always_on", share: 1 },
      metrics_ms: 500,
      child_attempts: "first",
      create_spans: true,
    },
    "remote",
  );
  const remote = createClient({ url: api.url, tracing: openTelemetry() }).work("remote", () => ({ done: true }));

  const payload = { database_url: system.servers.postgres.url };
  const headers = { traceparent, tracestate: "vendor=opaque" };
  const { id } = await submitTraced(api, { type: "traced.parent", payload }, headers);
  await eventually(async () => (await api.read(id)).status === "succeeded", { timeout_ms: 30_000 });
  await eventually(() => collector.spans().some(({ name }) => name === "complete jobs"), { timeout_ms: 30_000 });
  await remote.stop();
  await telemetry.stop();
  worker.kill();
  await worker.waitForExit();
  api.process.kill();
  await api.process.waitForExit();

  const spans = collector.spans();
  const find = (service: string, name: string, where: (span: ReceivedSpan) => boolean = () => true) => {
    const found = spans.filter((span) => span.service === service && span.name === name && where(span));
    expect(found, `${service}: ${name}`).toHaveLength(1);
    return found[0] as ReceivedSpan;
  };
  const attempt = (number: number) => (span: ReceivedSpan) => span.attributes["atlasqueue.job.attempt"] === number;
  const childOf = (parent: ReceivedSpan) => ({ trace_id: parent.trace_id, parent_id: parent.span_id });
  const to = ({ trace_id, span_id }: { trace_id: string; span_id: string }) => ({ trace_id, span_id });

  // Submit: the curl's span (which no one exports) → the request → the submission → the insert.
  const request = find("atlasqueue-api", "POST /v1/jobs");
  expect(request).toMatchObject({ kind: "server", trace_id: begun.trace_id, parent_id: begun.span_id, links: [] });
  const send = find("atlasqueue-api", "send default");
  expect(send).toMatchObject({ kind: "producer", ...childOf(request), attributes: { "messaging.message.id": id } });
  expect(find("atlasqueue-api", "insert jobs")).toMatchObject({ kind: "client", ...childOf(send) });

  // Claims: traces of their own, which link to what they took.
  const claims = spans.filter(({ service, name }) => service === "atlasqueue-worker" && name === "receive default");
  expect(claims.map(({ kind, parent_id, links }) => ({ kind, parent_id, links }))).toEqual([
    { kind: "client", parent_id: undefined, links: [to(send)] },
    { kind: "client", parent_id: undefined, links: [to(send)] },
  ]);

  // The first attempt is a child of the submission and fails; its settlement is part of it.
  const first = find("atlasqueue-worker", "process default", attempt(1));
  expect(first).toMatchObject({ kind: "consumer", ...childOf(send), links: [to(send)], failed: true });
  expect(first.attributes).toMatchObject({ "error.type": "RangeError", "messaging.system": "atlasqueue" });
  const inFirst = (span: ReceivedSpan) => span.parent_id === first.span_id;
  expect(find("atlasqueue-worker", "my own work", inFirst)).toMatchObject(childOf(first));
  expect(find("atlasqueue-worker", "nack default")).toMatchObject({ ...childOf(first), links: [to(send)] });

  // The retry begins a trace of its own, which links to the submission.
  const second = find("atlasqueue-worker", "process default", attempt(2));
  expect(second).toMatchObject({ kind: "consumer", parent_id: undefined, links: [to(send)], failed: false });
  expect(second.trace_id).not.toBe(begun.trace_id);
  const own = find("atlasqueue-worker", "my own work", (span) => span.parent_id === second.span_id);
  expect(find("atlasqueue-worker", "ack default")).toMatchObject({ ...childOf(second), links: [to(send)] });

  // The child job, submitted from the handler, and run by a remote worker.
  const child = find("atlasqueue-worker", "send remote");
  expect(child).toMatchObject({ kind: "producer", ...childOf(own) });
  const processed = find("remote", "process remote");
  expect(processed).toMatchObject({ kind: "consumer", ...childOf(child), links: [to(child)], failed: false });
  expect(find("remote", "receive remote")).toMatchObject({ kind: "client", links: [to(child)] });
  const ack = find("remote", "ack remote");
  expect(ack).toMatchObject({ kind: "client", ...childOf(processed), links: [to(child)] });
  const acked = find("atlasqueue-api", "POST /v1/jobs/:id/ack");
  expect(acked).toMatchObject({ kind: "server", ...childOf(ack) });
  expect(find("atlasqueue-api", "complete jobs")).toMatchObject({ kind: "client", ...childOf(acked) });

  // From the last of it back to the curl, along parents and links alone.
  expect(reachable(spans, acked)).toContain(begun.span_id);

  const logged = collector.logs();
  const working = logged.filter(({ body }) => body === "working");
  expect(working.map(({ trace_id }) => trace_id).toSorted()).toEqual([first.trace_id, second.trace_id].toSorted());
  expect(logged.find(({ body }) => body === "job_created")).toMatchObject({ service: "atlasqueue-api", ...to(send) });
  expect(worker.logs.find(({ event }) => event === "handler_error")).toMatchObject(to(first));

  const metrics = collector.metrics();
  const metric = (name: string, service: string) =>
    metrics.findLast((one) => one.name === name && one.service === service);
  expect(metric("messaging.process.duration", "atlasqueue-worker")).toMatchObject({ unit: "s", kind: "histogram" });
  expect(metric("messaging.client.sent.messages", "atlasqueue-api")?.points[0]?.value).toBe(1);
  expect(metric("atlasqueue.job.duration", "atlasqueue-worker")).toMatchObject({ unit: "s", kind: "histogram" });
  expect(metric("atlasqueue.jobs.submitted", "atlasqueue-api")).toMatchObject({ kind: "sum" });
});

test("an isolated handler has the span of its attempt active in its own process; a batch has a span per job", async () => {
  const collector = await collect();
  const env = exporting(collector);
  const api = await system.startApi(env);
  const worker = await system.startWorker({ ...env, WORKER_HANDLERS: handlers, TRACE_CHILD_ATTEMPTS: "none" });
  const answer = await fetch(`${api.url}/v1/jobs/batch`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent },
    body: JSON.stringify({ jobs: ["a", "b"].map((idempotency_key) => ({ type: "traced.isolated", idempotency_key })) }),
  });
  const { jobs } = (await answer.json()) as { jobs: { id: string }[] };
  const results: unknown[] = [];
  for (const { id } of jobs)
    results.push(await eventually(async () => (await api.read(id)).result ?? false, { timeout_ms: 30_000 }));
  worker.kill();
  await worker.waitForExit();
  api.process.kill();
  await api.process.waitForExit();

  const named = (name: string) => collector.spans().filter((span) => span.name === name);
  const [send] = named("send default");
  const created = named("create default");
  expect(send).toMatchObject({ kind: "client", trace_id: begun.trace_id });
  expect(created.map(({ kind, trace_id }) => ({ kind, trace_id }))).toEqual([
    { kind: "producer", trace_id: begun.trace_id },
    { kind: "producer", trace_id: begun.trace_id },
  ]);
  const ids = (spans: readonly { span_id: string }[]) => spans.map(({ span_id }) => span_id).toSorted();
  expect(ids(send?.links ?? [])).toEqual(ids(created));
  const attempts = named("process default");
  expect(attempts.map(({ parent_id }) => parent_id)).toEqual([undefined, undefined]);
  expect(ids(attempts.flatMap(({ links }) => links))).toEqual(ids(created));
  expect(results.map((one) => (one as { active: string }).active).toSorted()).toEqual(ids(attempts));
});

/** The ids of all spans on a way from this one along parents and links. */
function reachable(spans: readonly ReceivedSpan[], from: ReceivedSpan): string[] {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const seen = new Set<string>();
  const open = [from.span_id];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const span = byId.get(id);
    if (span?.parent_id) open.push(span.parent_id);
    for (const link of span?.links ?? []) open.push(link.span_id);
  }
  return [...seen];
}

test("without the setting nothing of OpenTelemetry is loaded, and a curl's trace still travels with the job", async () => {
  const loads = fileURLToPath(new URL("../test/tell-loaded.ts", import.meta.url));
  const NODE_OPTIONS = `--import ${loads}`;
  const api = await system.startApi({
    NODE_OPTIONS,
    TRACE_URL_TEMPLATE: "https://traces.example/t/{trace_id}?from=queue",
  });
  const worker = await system.startWorker({ NODE_OPTIONS });
  const { id } = await submitTraced(api, { type: "demo.echo" }, { traceparent, tracestate: "vendor=opaque" });
  await eventually(async () => (await api.read(id)).status === "succeeded", { timeout_ms: 30_000 });
  expect(await api.read(id)).toMatchObject({ traceparent, tracestate: "vendor=opaque" });
  expect(await (await fetch(`${api.url}/v1/jobs/${id}/explain`)).json()).toMatchObject({
    trace_id: begun.trace_id,
    trace_url: `https://traces.example/t/${begun.trace_id}?from=queue`,
  });

  await submitTraced(api, { type: "elsewhere", queue: "far" }, { traceparent });
  const leased = await fetch(`${api.url}/v1/queues/far/lease`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ worker_id: "any" }),
  });
  expect(((await leased.json()) as LeaseAnswer).jobs[0]?.job).toMatchObject({ traceparent, tracestate: null });

  for (const process of [api.process, worker]) {
    process.kill();
    await process.waitForExit();
    const loaded = process.errorLines.find((line) => line.startsWith("loaded "));
    expect(loaded).toMatch(/^loaded \d+ modules/);
    expect(process.errorLines.filter((line) => line.startsWith("file:"))).toEqual([]);
  }
});

test.each([
  ["that refuses everything", () => ({ status: 503 })],
  ["that never answers", () => new Promise<never>(() => {})],
  ["that hangs up", () => "hang_up" as const],
])("a collector %s costs no job, and holds up no stop", async (_how, answer) => {
  const collector = await otlpReceiver(answer);
  onTestFinished(() => collector.close());
  const env = exporting(collector);
  const api = await system.startApi(env);
  const worker = await system.startWorker(env);
  const jobs = await Promise.all(Array.from({ length: 50 }, () => api.create({ type: "demo.echo" })));
  for (const id of jobs)
    await eventually(async () => (await api.read(id)).status === "succeeded", { timeout_ms: 30_000 });
  await eventually(() => collector.requests.length > 0, { timeout_ms: 30_000 });
  for (const process of [worker, api.process]) {
    process.kill();
    expect(await process.waitForExit(20_000)).toEqual({ code: 0, signal: null });
  }
});

test("what is not sent yet is sent at SIGTERM, as protobuf unless told otherwise", async () => {
  const collector = await collect();
  const api = await system.startApi({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
  await api.create({ type: "nobody-runs-it", queue: "idle" });
  api.process.kill();
  expect(await api.process.waitForExit()).toEqual({ code: 0, signal: null });
  const got = (path: string) => collector.requests.filter((one) => one.path === path);
  for (const path of ["/v1/traces", "/v1/metrics", "/v1/logs"]) {
    expect(got(path).length, path).toBeGreaterThan(0);
    expect(got(path)[0]?.headers["content-type"]).toBe("application/x-protobuf");
  }
  expect(got("/v1/traces").some(({ body }) => body.includes("send idle"))).toBe(true);
});
