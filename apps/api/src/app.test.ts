import { forFile } from "@atlasqueue/harness";
import { openQueueError } from "@atlasqueue/contract";
import { expect, test } from "vitest";
import { createApp } from "./app.ts";
import { createGate } from "./http/gate.ts";
import { testApp } from "../test/test-app.ts";

const api = forFile(testApp);

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

test("every route, found or not, answers with a request id and the security headers", async () => {
  const routes = api.app.routes.filter(({ method }) => method !== "ALL");
  expect(routes.length).toBeGreaterThan(6);
  for (const { method, path } of [
    ...routes,
    { method: "GET", path: "/nowhere" },
    { method: "PATCH", path: "/health" },
  ]) {
    const response = await api.app.request(`http://localhost${path}`, { method });
    expect(response.headers.get("x-request-id"), path).toMatch(uuid);
    expect(response.headers.get("x-content-type-options"), path).toBe("nosniff");
    const isFixed = response.ok && /^\/(docs|openapi\.json)/.test(path);
    expect(response.headers.get("cache-control"), path).toBe(isFixed ? "no-cache" : "no-store");
    expect(response.headers.get("access-control-allow-origin"), path).toBeNull();
  }
});

test.each(["a", "A.b_c-9", "x".repeat(128)])(
  "the request id %.10s is echoed, and is the instance of a problem",
  async (id) => {
    const response = await api.get("/nowhere", { "x-request-id": id });
    expect(response.headers.get("x-request-id")).toBe(id);
    expect(await response.json()).toMatchObject({ instance: id });
  },
);

test.each(["", "a b", "a\tb", "é", "x".repeat(129), "a,b", "<script>"])(
  "the request id '%.10s' is replaced",
  async (id) => {
    expect((await api.get("/health", { "x-request-id": id })).headers.get("x-request-id")).toMatch(uuid);
  },
);

test("each request is reported once, with its route's pattern and its own path", async () => {
  const before = api.events.length;
  await api.get("/v1/jobs/01920000-0000-7000-8000-000000000000", { "x-request-id": "one" });
  await api.get(`/${"long".repeat(100)}`);
  await api.app.request("http://localhost/health", { method: "POST" });
  expect(api.events.slice(before)).toMatchObject([
    {
      event: "http_request",
      request_id: expect.stringMatching(uuid),
      caller_request_id: "one",
      client_address: "unknown",
      method: "GET",
      path_template: "/v1/jobs/:id",
      path: "/v1/jobs/01920000-0000-7000-8000-000000000000",
      status_code: 404,
    },
    { path_template: "unmatched", path: `/${"long".repeat(100)}`.slice(0, 200), status_code: 404 },
    { path_template: "unmatched", path: "/health", status_code: 405 },
  ]);
});

test("/metrics counts requests by pattern, never by path", async () => {
  await api.get("/v1/jobs/01920000-0000-7000-8000-000000000001");
  await api.get("/secret-path");
  const response = await api.get("/metrics");
  expect(response.headers.get("content-type")).toContain("text/plain");
  const text = await response.text();
  expect(text).toContain('path_template="/v1/jobs/:id"');
  expect(text).toContain('path_template="unmatched"');
  expect(text).not.toContain("secret-path");
});

test("a bug is a 500 that reveals nothing, and the log has its stack under the request id", async () => {
  const bug = () => Promise.reject(new TypeError("SELECT password FROM users"));
  const broken = await testApp({
    submitter: { submit: bug, submitTogether: bug, submitFlow: bug, close: async () => {} },
  });
  const response = await broken.post("k", { type: "a" }, { "x-request-id": "bug" });
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).not.toMatch(/SELECT|TypeError|\.ts/);
  expect(JSON.parse(text)).toMatchObject({ type: "/problems/internal", instance: "bug" });
  const there = await broken.send("POST", "/jobs", undefined, { payload: {} });
  expect([there.status, openQueueError.safeParse(await there.json()).error]).toEqual([500, undefined]);
  const line = broken.logLines().find((one) => one.includes('"http_error"')) ?? "{}";
  expect(JSON.parse(line)).toMatchObject({ level: "error", caller_request_id: "bug", err: { type: "TypeError" } });
  expect(line).toContain("app.test.ts");
  await broken.stop();
});

test("more requests than may be in flight are refused, with Retry-After and what is full", async () => {
  const full = await testApp({ gate: createGate({ requests_max: 1, kept: 0 }) });
  const responses = await Promise.all([full.post("1", { type: "a" }), full.post("2", { type: "a" })]);
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 429]);
  const refused = responses.find(({ status }) => status === 429);
  expect(refused?.headers.get("retry-after")).toBe("1");
  expect(await refused?.json()).toMatchObject({
    type: "/problems/share-used",
    detail: "The tenant has its share of the requests in flight",
  });
  expect((await full.post("3", { type: "a" })).status).toBe(201);
  await full.stop();
});

test("a request addressed to a name other than this machine's is refused while no identity is checked", async () => {
  const { deps, stop } = await testApp();
  const app = createApp({ ...deps, allowed_hosts: { names: [], addresses: false } });
  const statusOf = async (host: string) => (await app.request(`http://${host}/health`)).status;
  expect(await Promise.all(["localhost:8000", "127.0.0.1:8000", "[::1]:8000"].map(statusOf))).toEqual([200, 200, 200]);
  expect(await Promise.all(["rebound.example", "127.0.0.1.rebound.example", "10.0.0.7:8000"].map(statusOf))).toEqual([
    400, 400, 400,
  ]);
  await stop();
});
