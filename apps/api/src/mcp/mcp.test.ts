import { forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { guardedApp } from "../../test/guarded-app.ts";
import { meta, modern, toolCall } from "../../test/mcp-messages.ts";
import { testApp } from "../../test/test-app.ts";
import { createApp } from "../app.ts";

// What the door of /mcp does; the tools behind it are tried in apps/cli, with the official client over both transports.
const api = forFile(guardedApp);
let token: string;
beforeAll(async () => void ({ token } = await api.token("admin")));

type Rpc = { status: number; headers: Headers; body: { error?: { code: number; data?: unknown }; result?: unknown } };

/** A message as a client of 2026-07-28 sends it. */
async function ask(
  method: string,
  params: { name?: string; [key: string]: unknown } = {},
  headers: Record<string, string> = {},
  app = api,
): Promise<Rpc> {
  const body = { jsonrpc: "2.0", id: 1, method, params: { _meta: meta, ...params } };
  const name: Record<string, string> = params.name === undefined ? {} : { "mcp-name": params.name };
  const response = await app.send("POST", "/mcp", token, body, {
    ...modern,
    "mcp-method": method,
    ...name,
    ...headers,
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? {} : (JSON.parse(text) as Rpc["body"]),
  };
}

const listQueues = { name: "list_queues", arguments: {} };

test("a client of 2026-07-28 discovers it, lists its tools and calls one, without a handshake", async () => {
  const discovered = await ask("server/discover");
  expect(discovered.body.result).toMatchObject({
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {}, resources: {}, prompts: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    instructions: expect.stringContaining("data") as string,
  });
  expect((await ask("tools/list")).body.result).toMatchObject({ resultType: "complete" });
  const { body, headers } = await ask("tools/call", listQueues);
  expect(headers.get("content-type")).toBe("application/json");
  expect(body.result).toMatchObject({ structuredContent: { queues: [] } });
});

test("one of an earlier protocol shakes hands, and needs no session", async () => {
  const legacy = async (body: object) => {
    const response = await api.send("POST", "/mcp", token, { jsonrpc: "2.0", ...body });
    return { status: response.status, session: response.headers.get("mcp-session-id"), text: await response.text() };
  };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "old", version: "1" } };
  const hello = await legacy({ id: 1, method: "initialize", params });
  expect(hello).toMatchObject({ status: 200, session: null });
  expect(JSON.parse(hello.text)).toMatchObject({ result: { protocolVersion: "2025-06-18" } });
  expect(await legacy({ method: "notifications/initialized" })).toMatchObject({ status: 202, text: "" });
  const called = await legacy({ id: 2, method: "tools/call", params: listQueues });
  expect(JSON.parse(called.text)).toMatchObject({ id: 2, result: { structuredContent: { queues: [] } } });
});

test("another site's page is 403, another name 400, no token 401, GET and DELETE 405", async () => {
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])
    expect((await ask("tools/list", {}, headers)).status, JSON.stringify(headers)).toBe(403);
  expect((await ask("tools/list", {}, { origin: "http://localhost" })).status).toBe(200);
  const named = createApp({ ...api.deps, allowed_hosts: { names: [], addresses: false } });
  expect((await named.request("http://rebound.example/mcp", { method: "POST" })).status).toBe(400);
  const unknown = await api.send("POST", "/mcp", undefined, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  expect(unknown.status).toBe(401);
  expect(unknown.headers.get("www-authenticate")).toContain("Bearer");
  for (const method of ["GET", "DELETE"]) {
    const response = await api.send(method, "/mcp", token);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  }
});

test("streams, unknown methods, later protocols, and parameters that are a list are refused", async () => {
  const listed = await api.send("POST", "/mcp", token, { jsonrpc: "2.0", id: 1, method: "tools/list", params: [] });
  expect([listed.status, listed.headers.get("content-type")]).toEqual([400, "application/json"]);
  const invalid = { code: -32_600, message: expect.any(String) as string };
  expect(await listed.json()).toEqual({ jsonrpc: "2.0", id: null, error: invalid });
  const listening = await ask("subscriptions/listen", { notifications: { toolsListChanged: true } });
  expect(listening.headers.get("content-type")).toBe("application/json");
  expect(listening.body.error).toMatchObject({ code: -32_603 });
  expect((await ask("nothing/such")).body.error).toMatchObject({ code: -32_601 });
  const later = { ...modern, "mcp-protocol-version": "2031-01-01" };
  const newer = { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": "2031-01-01" } };
  expect(await ask("tools/list", newer, later)).toMatchObject({
    status: 400,
    body: { error: { code: -32_022, data: { supported: ["2026-07-28"] } } },
  });
});

test("what a tool asks is limited, noted and counted like any other request, under the same request id", async () => {
  const before = api.events.length;
  await ask(
    "tools/call",
    { name: "pause_queue", arguments: { queue_name: "noted", idempotency_key: "k" } },
    { "x-request-id": "one" },
  );
  const requests = api.events.slice(before).filter((event) => event.event === "http_request");
  expect(requests).toMatchObject([
    { path_template: "/v1/queues/:queue/pause", status_code: 200, caller_request_id: "one" },
    { path_template: "/mcp", caller_request_id: "one" },
  ]);
  const trail = await api.send("GET", "/v1/audit?target=noted", token);
  expect(await trail.json()).toMatchObject({
    items: [{ action: "queue.pause", actor: { kind: "token", name: "test" } }],
  });

  const limited = await guardedApp({ rate_limit: { limit: 4, period_ms: 60_000 } });
  const own = token;
  ({ token } = await limited.token("admin"));
  // One for each message, and one for what its tool asks.
  expect((await ask("tools/call", listQueues, {}, limited)).body.result).toMatchObject({ structuredContent: {} });
  expect((await ask("tools/call", listQueues, {}, limited)).headers.get("ratelimit")).toContain("r=1");
  const { body } = await ask("tools/call", listQueues, {}, limited);
  expect(body).toMatchObject({});
  const refused = await ask("tools/call", listQueues, {}, limited);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBeTruthy();
  token = own;
  await limited.stop();
});

test("a database that is away is an answer too, which says when to try again", async () => {
  const sql = new Proxy(api.deps.database.sql, {
    get() {
      throw Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
    },
  });
  const lost = await testApp({ database: { ...api.deps.database, sql } });
  const response = await lost.send("POST", "/mcp", undefined, toolCall("list_queues", {}));
  expect(await response.json()).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining("Wait 1 s, then call again") as string }] },
  });
  await lost.stop();
});

test("an MCP server is loaded when the first one asks for it, and not before", { tags: ["slow"] }, async () => {
  const { execFile } = await import("node:child_process");
  const main = new URL("../start-api.ts", import.meta.url).href;
  const script = `import { registerHooks } from "node:module";
    registerHooks({ load(url, context, next) { if (url.includes("modelcontextprotocol")) console.log(url); return next(url, context); } });
    await import(${JSON.stringify(main)});`;
  const said = await new Promise<string>((resolve, reject) =>
    execFile(process.execPath, ["--input-type=module", "-e", script], (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    ),
  );
  expect(said).toBe("");
});
