import { fileURLToPath } from "node:url";
import { createClient } from "@atlasqueue/client";
import { openTelemetry } from "@atlasqueue/client/opentelemetry";
import { startTelemetry } from "@atlasqueue/telemetry";
import { expect, test } from "vitest";
import { eventually, type ReceivedSpan, forFile } from "@atlasqueue/harness";
import { startSystem } from "./system.ts";
import { begun, childOf, collect, exporting, reachable, submitTraced, to, traceparent } from "./traced.ts";

// How spans hang together, by their parents and links.
const handlers = fileURLToPath(new URL("../test/traced-handlers.ts", import.meta.url));

const system = forFile(startSystem);

test("a curl's trace is one tree through retries, a child and a remote worker", { tags: ["nightly"] }, async () => {
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
  const acked = find("atlasqueue-api", "POST /v1/leases/settle");
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

test("a trace goes on through an assistant's tool: message, requests and job", { tags: ["nightly"] }, async () => {
  const collector = await collect();
  const api = await system.startApi(exporting(collector));
  const call = { name: "enqueue_job", arguments: { queue_name: "tool", payload: {}, idempotency_key: "traced" } };
  const answer = await fetch(`${api.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent, tracestate: "vendor=opaque" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
  });
  const { result } = (await answer.json()) as { result: { structuredContent: { job_id: string } } };
  const { job_id } = result.structuredContent;
  const job = await api.read(job_id);
  api.process.kill();
  await api.process.waitForExit();

  const named = (name: string) => {
    const found = collector.spans().filter((span) => span.name === name);
    expect(found, name).toHaveLength(1);
    return found[0] as ReceivedSpan;
  };
  const message = named("POST /mcp");
  expect(message).toMatchObject({ kind: "server", trace_id: begun.trace_id, parent_id: begun.span_id });
  const asked = named("POST /v1/jobs");
  expect(asked).toMatchObject({ kind: "server", ...childOf(message) });
  const send = named("send tool");
  expect(send).toMatchObject({ ...childOf(asked), attributes: { "messaging.message.id": job_id } });
  expect(job).toMatchObject({
    traceparent: `00-${begun.trace_id}-${send.span_id}-01`,
    tracestate: "vendor=opaque",
  });
});

test("an isolated handler has its span in its process; a batch a span per job", { tags: ["nightly"] }, async () => {
  const collector = await collect();
  const env = exporting(collector);
  const api = await system.startApi(env);
  const worker = await system.startWorker({ ...env, WORKER_HANDLERS: handlers, TRACE_CHILD_ATTEMPTS: "none" });
  const answer = await fetch(`${api.url}/v1/jobs/batch`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent },
    body: JSON.stringify({
      jobs: ["a", "b"].map((idempotency_key) => ({ type: "traced.isolated", idempotency_key })),
    }),
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
