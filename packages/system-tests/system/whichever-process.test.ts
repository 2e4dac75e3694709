// @module-tag nightly
import { Agent, request, type IncomingHttpHeaders } from "node:http";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { startSystem } from "./system.ts";

// The processes of an API share nothing but PostgreSQL and Redis: what one was told, the other must know.
const system = forFile(startSystem);
let token: string;
beforeAll(async () => void (token = await system.makeToken()));

type Answer = { status: number; headers: IncomingHttpHeaders; body: Record<string, unknown> };
type Asked = { body?: object; key?: string; headers?: Record<string, string>; as?: string };
/** A connection that is kept: all it asks is answered by one process. */
type Door = (method: string, path: string, asked?: Asked) => Promise<Answer>;

let url: string;
/** Of each process one. */
let one: Door;
let other: Door;
beforeAll(async () => {
  const env = { API_PROCESSES: "2", AUTH: "required", RATE_LIMIT_REQUESTS: "1000", LOG_LEVEL: "warn" };
  ({ url } = await system.startApi(env));
  // New connections go to the processes in turn, once there are two.
  await eventually(async () => expect(await processesSeen()).toEqual(["0", "1"]));
});
beforeEach(async () => {
  [one, other] = [door(), door()];
  for (const each of [one, other]) await each("GET", "/v1/queues");
});

async function processesSeen(): Promise<string[]> {
  const page = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  return [...page.matchAll(/^process_start_time_seconds\{process="(\d)"\}/gm)].map(([, number = ""]) => number);
}

function door(): Door {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return (method, path, { body, key, headers = {}, as = token } = {}) =>
    new Promise((resolve, reject) => {
      const sent = {
        ...(as !== "" && { authorization: `Bearer ${as}` }),
        ...(body && { "content-type": "application/json" }),
        ...(key !== undefined && { "idempotency-key": key }),
        ...headers,
      };
      const asked = request(`${url}${path}`, { method, agent, headers: sent });
      asked.once("error", reject).once("response", (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.once("end", () => {
          const parsed = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: parsed });
        });
      });
      asked.end(body && JSON.stringify(body));
    });
}

test("one key makes one job, and one act, whichever process is asked", async () => {
  const submit = { body: { type: "a" }, key: "same-job" };
  const made = await one("POST", "/v1/jobs", submit);
  const again = await other("POST", "/v1/jobs", submit);
  expect([made.status, again.status, again.body["id"]]).toEqual([201, 200, made.body["id"]]);
  const pause = { body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: pauseOnce() } };
  const [first, second] = [await one("POST", "/mcp", spoken(pause)), await other("POST", "/mcp", spoken(pause))];
  expect([changed(first), changed(second)]).toEqual([true, false]);
});

test("a page begun at one process is carried on by the other", async () => {
  for (let count = 0; count < 3; count += 1)
    await one("POST", "/v1/jobs", { body: { type: "paged", queue: "pages" }, key: `page-${count}` });
  const page = await one("GET", "/v1/jobs?queue=pages&limit=2");
  const next = await other("GET", `/v1/jobs?queue=pages&limit=2&cursor=${page.body["next_cursor"] as string}`);
  expect([page, next].map(({ status, body }) => [status, (body["items"] as unknown[]).length])).toEqual([
    [200, 2],
    [200, 1],
  ]);
});

test("who signs in at one is signed in at the other, and signed out within five seconds", async () => {
  const opened = await one("POST", "/v1/session", { body: { token }, as: "" });
  const [cookie = ""] = opened.headers["set-cookie"]?.[0]?.split(";") ?? [];
  const session = { headers: { cookie, "x-atlasqueue-dashboard": "1" }, as: "" };
  expect((await other("GET", "/v1/jobs", session)).status).toBe(200);
  expect((await one("DELETE", "/v1/session", session)).status).toBe(200);
  expect((await one("GET", "/v1/jobs", session)).status).toBe(401);
  await eventually(async () => expect((await other("GET", "/v1/jobs", session)).status).toBe(401), {
    timeout_ms: 10_000,
  });
});

test("a token revoked at one is refused at the other within five seconds", async () => {
  const made = await one("POST", "/v1/tokens", { body: { name: "short", scopes: ["read"] } });
  const as = made.body["token"] as string;
  expect((await other("GET", "/v1/jobs", { as })).status).toBe(200);
  expect((await one("DELETE", `/v1/tokens/${made.body["id"] as string}`)).status).toBeLessThan(300);
  await eventually(async () => expect((await other("GET", "/v1/jobs", { as })).status).toBe(401), {
    timeout_ms: 10_000,
  });
});

test("who waits at one hears what happens at the other: for a job to lease, for its result, and for events", async () => {
  const lease = one("POST", "/v1/queues/far/lease", { body: { worker_id: "far", wait_seconds: 30 } });
  const events = await fetch(`${url}/v1/events`, { headers: { authorization: `Bearer ${token}` } });
  const { body: job } = await other("POST", "/v1/jobs", { body: { type: "a", queue: "far" }, key: "far" });
  const { jobs } = (await lease).body as { jobs: { lease_token: string }[] };
  const result = one("GET", `/v1/jobs/${job["id"] as string}?wait_seconds=30`);
  const done = { lease_token: jobs[0]?.lease_token, result: { far: true } };
  expect((await other("POST", `/v1/jobs/${job["id"] as string}/ack`, { body: done })).status).toBe(200);
  expect((await result).body).toMatchObject({ status: "succeeded", result: { far: true } });
  let told = "";
  for await (const part of events.body ?? []) {
    told += new TextDecoder().decode(part);
    if (told.includes("event: finished")) break;
  }
  expect(told).toContain(job["id"]);
});

test("a tenant's rate is one for all processes", async () => {
  const left = async (by: Door) =>
    Number(/r=(\d+)/.exec(String((await by("GET", "/v1/queues")).headers["ratelimit"]))?.[1]);
  const before = await left(one);
  await Promise.all(Array.from({ length: 100 }, () => other("GET", "/v1/queues")));
  // Some come back meanwhile.
  expect(await left(one)).toBeLessThan(before - 10);
});

test("MCP has no session: what is begun at one may be gone on with at the other", async () => {
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const older = { headers: { "mcp-protocol-version": "2025-06-18", accept: "application/json, text/event-stream" } };
  const message = (method: string, params: object) => ({ ...older, body: { jsonrpc: "2.0", id: 1, method, params } });
  const begun = await one("POST", "/mcp", message("initialize", hello));
  expect([begun.status, begun.headers["mcp-session-id"]]).toEqual([200, undefined]);
  const called = await other("POST", "/mcp", message("tools/call", { name: "list_queues", arguments: {} }));
  expect(called).toMatchObject({ status: 200, body: { result: { content: expect.anything() } } });
  expect(called.body).not.toHaveProperty("result.isError");
});

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const pauseOnce = () => ({
  _meta: meta,
  name: "pause_queue",
  arguments: { queue_name: "once", idempotency_key: "pause-once" },
});
const spoken = (asked: Asked): Asked => ({
  ...asked,
  headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "pause_queue" },
});
const changed = ({ body }: Answer) =>
  (body as { result?: { structuredContent?: { changed?: boolean } } }).result?.structuredContent?.changed;
