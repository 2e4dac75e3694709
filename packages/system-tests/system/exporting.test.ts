// @module-tag nightly
import { fileURLToPath } from "node:url";
import type { LeaseAnswer } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { startSystem } from "./system.ts";
import { begun, collect, exporting, submitTraced, traceparent } from "./traced.ts";

// What exporting costs: nothing where nobody asks for it, and no job where the collector is away.
const system = forFile(startSystem);

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

  const call = { name: "enqueue_job", arguments: { queue_name: "tool", payload: {}, idempotency_key: "tool" } };
  const told = await fetch(`${api.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", traceparent, tracestate: "vendor=opaque" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
  });
  const { result } = (await told.json()) as { result: { structuredContent: { job_id: string } } };
  expect(await api.read(result.structuredContent.job_id)).toMatchObject({ traceparent, tracestate: "vendor=opaque" });

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
])("a collector %s costs no job, and holds up no stop", async (_how, answer) => {
  const collector = await collect(answer);
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
