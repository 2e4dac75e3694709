import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { rawPost as post, rawSocket, say } from "../test/raw-socket.ts";
import { serverOf, submission, testApp } from "../test/test-app.ts";
import { startServer } from "./server.ts";

const api = forFile(testApp);
const local = { host: "127.0.0.1", port: 0 };
const timeouts = { headers_ms: 200, request_ms: 400, check_interval_ms: 50 };
const server = serverOf(api, timeouts);

test("a job is submitted and read over HTTP, on one connection", async () => {
  const created = await fetch(`${server.url}/v1/jobs`, submission("http", { type: "a", payload: { name: "é😀" } }));
  expect(created.status).toBe(201);
  expect(created.headers.get("content-type")).toBe("application/json");
  expect(created.headers.get("connection")).toBe("keep-alive");
  expect(created.headers.get("x-content-type-options")).toBe("nosniff");
  const read = await fetch(`${server.url}${created.headers.get("location")}`);
  expect(await read.json()).toEqual(await created.json());
});

test("a request of HTTP/1.0 without a Host, such as a load balancer's health check, is answered; a later one is refused", async () => {
  expect(await say(server.port, "GET /health HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.1 200 /);
  expect(await say(server.port, "GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
});

test("a GET may have a body", async () => {
  expect(
    await say(server.port, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"),
  ).toContain("HTTP/1.1 200");
});

test("HEAD answers like GET, without the body", async () => {
  const response = await fetch(`${server.url}/health`, { method: "HEAD" });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe("");
});

test.each([
  ["not HTTP", "hello\r\n\r\n", 400],
  ["a bad Host", "GET /health HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 400],
  ["an asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400],
  ["a backslash", "GET /v1\\jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400],
  ["headers of 20 KB", `GET /health HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ["a bad chunk", post("Idempotency-Key: k\r\nTransfer-Encoding: chunked", "zz\r\n"), 400],
  ["two lengths", post("Idempotency-Key: k\r\nContent-Length: 1\r\nContent-Length: 2", "{}"), 400],
  ["a coding alone", post("Transfer-Encoding: gzip", "{}"), 400],
  ["a length and chunks", post("Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), 400],
])("%s is answered with a problem: %s", async (_name, data, status) => {
  const answer = await say(server.port, data);
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  expect(answer).toMatch(/content-type: application\/problem\+json/i);
  expect(answer).toMatch(/x-request-id: /i);
});

test("a stop takes no more requests, and finishes those in flight", async () => {
  let answerNow = () => {};
  const waiting = new Promise<void>((resolve) => (answerNow = resolve));
  const slow = await testApp();
  slow.app.get("/slow", async (c) => {
    await waiting;
    return c.text("done");
  });
  const own = await startServer(slow.app, { ...local, logger: slow.deps.logger });
  const inFlight = fetch(`${own.url}/slow`);
  await fetch(`${own.url}/health`);
  const stopped = own.stop(5_000);
  await eventually(() => expect(fetch(`${own.url}/health`)).rejects.toThrow());
  answerNow();
  expect(await (await inFlight).text()).toBe("done");
  await stopped;
  await slow.stop();
});

test("a stop cuts off what is not finished by the deadline", async () => {
  const slow = await testApp();
  slow.app.get("/never", () => new Promise<Response>(() => {}));
  const own = await startServer(slow.app, { ...local, logger: slow.deps.logger });
  const cut = expect(fetch(`${own.url}/never`)).rejects.toThrow();
  await eventually(async () => (await fetch(`${own.url}/health`)).ok);
  await own.stop(50);
  await cut;
  await slow.stop();
});

test("a client that reads nothing of its answers is cut off", async () => {
  const impatient = await startServer(api.app, { ...local, logger: api.deps.logger, timeouts: { stalled_ms: 500 } });
  let served: Socket | undefined;
  const note = (told: unknown) => void (served ??= (told as { request: IncomingMessage }).request.socket);
  subscribe("http.server.request.start", note);
  onTestFinished(() => void unsubscribe("http.server.request.start", note));
  const socket = connect({ port: impatient.port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  socket.pause();
  socket.write("GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20));
  await eventually(() => expect(served?.destroyed).toBe(true));
  await impatient.stop(0);
});

test("a request that has arrived as the server is told to stop is answered, on an idle connection and on a new one", async () => {
  const stopping = await startServer(api.app, { ...local, logger: api.deps.logger, timeouts });
  const get = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
  const [idle, fresh] = [await rawSocket(stopping.port), await rawSocket(stopping.port)];
  idle.write(get);
  await eventually(async () => expect(idle.heard()).toMatch(/200 OK/));
  // Both are in the system's buffers when this turn of the loop ends; nobody has read them.
  idle.write(get);
  fresh.write(get);
  await stopping.stop(5_000);
  expect((await idle.answer).match(/200 OK/g)).toHaveLength(2);
  expect(await fresh.answer).toMatch(/200 OK/);
});
