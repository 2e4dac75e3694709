import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createQueue } from "@atlasqueue/core";
import { forFile, testDatabase } from "@atlasqueue/harness";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDashboard, type DashboardUser } from "./dashboard.ts";

const database = forFile(testDatabase);
const queue = forFile(async () => createQueue({ databaseUrl: database.url }));
const dashboard = forFile(async () =>
  createDashboard({
    databaseUrl: database.url,
    basePath: "/admin/queue",
    user: (request) => users[request.headers.get("x-user") ?? ""],
  }),
);
const users: Record<string, DashboardUser> = {
  ada: { name: "ada", scopes: ["admin"] },
  eve: { name: "eve", scopes: ["read"] },
};

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const hosts: Record<string, () => Promise<string>> = {
  http: () => serve(dashboard.node),
  "Express, behind its own parser": () => {
    const app = express().set("trust proxy", "loopback").use(express.json()).use("/admin/queue", dashboard.node);
    return serve(app as RequestListener);
  },
  Fastify: async () => {
    const app = Fastify();
    app.all("/admin/queue*", (request, reply) => {
      reply.hijack();
      dashboard.node(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    onTestFinished(() => app.close());
    return app.listen({ port: 0, host: "127.0.0.1" });
  },
};

describe.each(Object.entries(hosts))("under %s", (name, start) => {
  // Only Express is configured to have a proxy in front.
  const address = name.startsWith("Express") ? "203.0.113.7" : "127.0.0.1";

  test("the page, its files and its API are below the path", async () => {
    const url = `${await start()}/admin/queue`;
    const as = (user: string) => ({ headers: { "x-user": user } });
    const page = await fetch(url, as("ada"));
    expect([page.status, page.url]).toEqual([200, `${url}/`]);
    const [, script = ""] = /src="([^"]+)"/.exec(await page.text()) ?? [];
    expect((await fetch(new URL(script, page.url), as("ada"))).headers.get("content-type")).toMatch("javascript");
    const deep = await fetch(`${url}/ui/jobs/some`, as("ada"));
    const [, far = ""] = /src="([^"]+)"/.exec(await deep.text()) ?? [];
    expect(new URL(far, deep.url).href).toBe(new URL(script, page.url).href);
    const session = await fetch(`${url}/v1/session`, as("eve"));
    expect(await session.json()).toMatchObject({ auth: "application", scopes: ["read"], tenant: "default" });
  });

  test("a user does what their scopes allow, and the activity has their name", async () => {
    const url = `${await start()}/admin/queue`;
    const act = (user: string, more: Record<string, string> = { "x-atlasqueue-dashboard": "1" }) =>
      fetch(`${url}/v1/queues/mail/pause`, { method: "POST", headers: { "x-user": user, ...more } });
    expect((await act("ada", {})).status).toBe(403);
    expect((await act("eve")).status).toBe(403);
    expect((await act("nobody")).status).toBe(401);
    expect((await act("ada", { "x-atlasqueue-dashboard": "1", origin: "https://evil.example" })).status).toBe(403);
    const from = { "x-atlasqueue-dashboard": "1", "x-forwarded-for": "203.0.113.7" };
    expect((await act("ada", from)).status).toBe(200);
    const trail = await fetch(`${url}/v1/audit?target=mail`, { headers: { "x-user": "ada" } });
    expect(((await trail.json()) as { items: unknown[] }).items).toContainEqual(
      expect.objectContaining({
        action: "queue.pause",
        actor: { kind: "anybody", token_id: null, name: "ada" },
        address,
      }),
    );
  });

  test("a body arrives, whatever has parsed it before", async () => {
    const url = `${await start()}/admin/queue`;
    const stored = await fetch(`${url}/v1/jobs`, {
      method: "POST",
      headers: {
        "x-user": "ada",
        "x-atlasqueue-dashboard": "1",
        "content-type": "application/json",
        "idempotency-key": crypto.randomUUID(),
      },
      body: JSON.stringify({ type: "a", payload: { n: 1 } }),
    });
    expect([stored.status, await stored.json()]).toMatchObject([201, { payload: { n: 1 } }]);
  });
});

test("as a fetch handler of Hono it answers too, and MCP acts as the user", async () => {
  const app = new Hono().all("/admin/queue/*", (c) => dashboard.fetch(c.req.raw));
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_queues", arguments: {} } };
  const answer = await app.request("/admin/queue/mcp", {
    method: "POST",
    headers: { "x-user": "eve", "x-atlasqueue-dashboard": "1", "content-type": "application/json" },
    body: JSON.stringify(message),
  });
  expect(await answer.json()).toMatchObject({
    result: { structuredContent: { queues: expect.any(Array) as unknown } },
  });
  expect((await app.request("/admin/queue")).status).toBe(308);
});

test("nothing is connected before the first request, and a database that is away is 503", async () => {
  const away = createDashboard({ databaseUrl: "postgres://127.0.0.1:1/none", user: () => users["ada"] });
  const warned = once(process, "warning");
  expect((await away.fetch(new Request("http://a.example/v1/jobs"))).status).toBe(503);
  expect(String(await warned)).toMatch("cannot answer");
  await away.close();
});

test.each(["admin", "/a b", "//x"])("the base path %j is refused", (basePath) => {
  expect(() => createDashboard({ databaseUrl: "x", basePath, user: () => undefined })).toThrow(
    /basePath must be a path/,
  );
});

test("a tenant's user sees only its jobs", async () => {
  const { id } = await queue.submit({ type: "a" });
  const other = createDashboard({
    databaseUrl: database.url,
    user: () => ({ name: "x", scopes: ["admin"], tenant: "x" }),
  });
  expect((await other.fetch(new Request(`http://a.example/v1/jobs/${id}`))).status).toBe(404);
  await other.close();
});

test("a body that never ends is refused once it is too large", async () => {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => void controller.enqueue(new Uint8Array((sent += 65_536) && 65_536)),
  });
  const headers = { "x-user": "ada", "x-atlasqueue-dashboard": "1", "content-type": "application/json" };
  const to = "http://127.0.0.1/admin/queue/v1/jobs";
  const response = await dashboard.fetch(
    new Request(to, { method: "POST", headers, body, duplex: "half" } as RequestInit),
  );
  expect(response.status).toBe(413);
  expect(sent).toBeLessThan(4 * 1_048_576);
});
