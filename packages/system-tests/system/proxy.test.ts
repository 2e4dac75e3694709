// @module-tag slow
import { forFile } from "@atlasqueue/harness";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startNginx, type Nginx } from "./nginx.ts";
import { startSystem, type Api } from "./system.ts";

const system = forFile(startSystem);
let api: Api;
let nginx: Nginx;
beforeAll(async () => {
  api = await system.startApi({ TRUSTED_PROXIES: "127.0.0.1" });
  nginx = await startNginx(new URL(api.url).host);
});
afterAll(() => nginx.stop());

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${nginx.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
const submit = (job: object) => post("/v1/jobs", JSON.stringify(job), { "idempotency-key": crypto.randomUUID() });

async function* textOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) yield decoder.decode(bytes as Uint8Array);
}

describe.concurrent("behind nginx with the lines of proxy.md", () => {
  test("a job is submitted and leased", async () => {
    const stored = await submit({ type: "a", queue: "plain" });
    expect(stored.status).toBe(201);
    const { id } = (await stored.json()) as { id: string };
    const leased = await post("/v1/queues/plain/lease", '{"worker_id":"w"}');
    expect(await leased.json()).toMatchObject({ jobs: [{ job: { id } }] });
  });

  test("a lease is held for the 30 s that it may wait", { tags: ["nightly"] }, async () => {
    const asked_at = performance.now();
    const leased = await post("/v1/queues/empty/lease", '{"worker_id":"w","lease_seconds":90,"wait_seconds":30}');
    expect([leased.status, await leased.json()]).toMatchObject([200, { jobs: [] }]);
    expect(performance.now() - asked_at).toBeGreaterThan(29_000);
  });

  test("lines of a stream are answered before the next ones are sent", async () => {
    const lines = new TransformStream<Uint8Array, Uint8Array>();
    const writer = lines.writable.getWriter();
    const send = (line: object) => writer.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
    const begun = fetch(`${nginx.url}/v1/jobs/stream`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: lines.readable,
      duplex: "half",
    });
    await send({ type: "a", queue: "stream", idempotency_key: "proxied-1" });
    const answers = textOf(await begun);
    expect((await answers.next()).value).toContain('"line":1');
    await send({ type: "a", queue: "stream", idempotency_key: "proxied-2" });
    expect((await answers.next()).value).toContain('"line":2');
    await writer.close();
    expect((await answers.next()).value).toContain('"end":"complete"');
  });

  test("events come when they happen", async () => {
    const events = await fetch(`${nginx.url}/v1/events`);
    expect(events.headers.get("content-type")).toBe("text/event-stream");
    let seen = "";
    const stream = textOf(events);
    const until = async (text: string) => {
      while (!seen.includes(text)) seen += (await stream.next()).value ?? "";
    };
    await until("event: counts");
    await submit({ type: "a", queue: "in-events" });
    await until("in-events");
    await stream.return(undefined);
  });

  test("a large body is refused by the API, and one that is far too large by nginx", async () => {
    const sized = (bytes: number) => submit({ type: "a", payload: { fill: "x".repeat(bytes) } });
    const large = await sized(2 * 1_048_576);
    expect([large.status, await large.json()]).toMatchObject([413, { type: "/problems/too-large" }]);
    const huge = await sized(17 * 1_048_576);
    expect([huge.status, huge.headers.get("content-type")]).toEqual([413, "text/html"]);
  });

  test("the audit trail has the client's address, and not one that the client made up", async () => {
    const paused = request(`${nginx.url}/v1/queues/audited/pause`, {
      method: "POST",
      localAddress: "127.0.0.2",
      headers: { "x-forwarded-for": "203.0.113.9", "content-length": 0 },
    }).end();
    const [answer] = (await once(paused, "response")) as [{ statusCode: number }];
    expect(answer.statusCode).toBe(200);
    const trail = await fetch(`${nginx.url}/v1/audit?target=audited`);
    expect(await trail.json()).toMatchObject({ items: [{ action: "queue.pause", address: "127.0.0.2" }] });
  });

  test("headers that take their time are cut by nginx after 10 s", async () => {
    const began_at = performance.now();
    const socket = connect(nginx.port, "127.0.0.1").resume();
    socket.write("GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    await once(socket, "close");
    const took_ms = performance.now() - began_at;
    expect(took_ms).toBeGreaterThan(9_000);
    expect(took_ms).toBeLessThan(20_000);
  });
});
