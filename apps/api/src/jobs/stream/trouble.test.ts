import { revokeToken } from "@atlasqueue/core/internal";
import { eventually } from "@atlasqueue/harness";
import { expect, onTestFinished, test, vi } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../../test/guarded-app.ts";
import { jobLine, lineClient } from "../../../test/line-client.ts";
import { rawSocket } from "../../../test/raw-socket.ts";
import { testApp, type Changes, type Core } from "../../../test/test-app.ts";
import { startServer } from "../../server.ts";
import { createJobStreams } from "./open-streams.ts";

const local = { host: "127.0.0.1", port: 0 };

/** An app on a port until the test is over, whose requests may take 300 ms. */
async function served(made: ReturnType<typeof testApp> | ReturnType<typeof guardedApp>, stalled_ms = 60_000) {
  const api = await made;
  const timeouts = { headers_ms: 200, request_ms: 300, check_interval_ms: 50, stalled_ms };
  const server = await startServer(api.app, { ...local, logger: api.deps.logger, timeouts });
  onTestFinished(async () => {
    await server.stop(100);
    await api.stop();
  });
  const count = async (queue: string) =>
    Number((await api.deps.database.sql`SELECT count(*) FROM atlasqueue.jobs WHERE queue = ${queue}`)[0]?.["count"]);
  return { api, port: server.port, count };
}
const app = (changes: Changes | ((core: Core) => Changes) = {}) => served(testApp(changes));

test("a stream may go on for longer than other requests", async () => {
  const { port } = await app();
  const client = (await lineClient(port)).read();
  const begun = performance.now();
  for (let at = 1; performance.now() - begun < 1_000; at += 1) {
    await client.send(jobLine(`long-${at}`));
    await eventually(() => expect(client.last()).toMatchObject({ line: at }));
  }
  client.end();
  await client.closed;
  expect(client.last()).toMatchObject({ end: "complete" });
});

test("what a stream stores for a client that was cut is under way until it is stored", async () => {
  const { api, port, count } = await app({ jobStreams: createJobStreams({ streams_max: 1 }) });
  const [storing, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { submit } = api.deps.submitter;
  vi.spyOn(api.deps.submitter, "submit").mockImplementation(async (...call) => {
    storing.resolve();
    await letGo.promise;
    return submit(...call);
  });
  const client = (await lineClient(port)).read();
  await client.send(jobLine("begun", { queue: "begun" }));
  await storing.promise;
  let is_over = false;
  const over = api.deps.underWay.over().then(() => (is_over = true));
  client.cut();
  // Its place is free: it has ended.
  await eventually(async () => {
    const next = await lineClient(port);
    next.cut();
    expect(next.status).toBe(200);
  });
  expect(is_over).toBe(false);
  letGo.resolve();
  await over;
  expect(await count("begun")).toBe(1);
});

test("a stream that sends nothing is answered what is left, and ended", async () => {
  const { port } = await app({ jobStreams: createJobStreams({ idle_ms: 1_000 }) });
  const client = (await lineClient(port)).read();
  await client.send(jobLine("idle") + jobLine("half").slice(0, 9));
  await client.closed;
  expect(client.answers()).toMatchObject([{ line: 1 }, { end: "idle", answered: 1 }]);
  expect(client.broken()).toBe(false);
});

test("a client that is cut in the middle of a line has stored the lines before it, and its place is free", async () => {
  const { port, count } = await app({ jobStreams: createJobStreams({ streams_max: 1 }) });
  const client = (await lineClient(port)).read();
  await client.send(jobLine("cut-1", { queue: "cut" }) + jobLine("cut-2", { queue: "cut" }).slice(0, 30));
  await eventually(() => expect(client.last()).toMatchObject({ line: 1 }));
  expect((await lineClient(port)).status).toBe(429);
  client.cut();
  await eventually(async () => {
    const next = await lineClient(port);
    expect(next.status).toBe(200);
    next.cut();
  });
  expect(await count("cut")).toBe(1);
});

const head = "POST /v1/jobs/stream HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n";

test("100 is said to a client that waits for it; one that then closes its side has left", async () => {
  const { port, count } = await app({ jobStreams: createJobStreams({ streams_max: 1 }) });
  const line = jobLine("expect", { queue: "half-closed" });
  const headers = `${head}Expect: 100-continue\r\nContent-Length: ${line.length}\r\nConnection: close\r\n\r\n`;
  const patient = await rawSocket(port);
  patient.write(headers);
  patient.write(line);
  const answer = await patient.answer;
  expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/);
  expect(answer).toContain('"outcome":"created"');
  expect(answer).toContain('{"end":"complete","answered":1}');
  const hasty = await rawSocket(port);
  hasty.write(headers + line);
  hasty.end();
  await hasty.answer;
  const next = await eventually(async () => {
    const client = (await lineClient(port)).read();
    expect(client.status).toBe(200);
    return client;
  });
  await next.send(line);
  next.end();
  await next.closed;
  expect(next.answers()).toMatchObject([{ outcome: "replayed" }, { end: "complete" }]);
  expect(await count("half-closed")).toBe(1);
});

test("a body that breaks off stores no half line", async () => {
  const { port, count } = await app();
  const line = jobLine("broken", { queue: "broken" });
  for (const [headers, body] of [
    ["Content-Length: 9999", line.trim()],
    ["Transfer-Encoding: chunked", `${(line.length - 1).toString(16)}\r\n${line.trim()}\r\n`],
    ["Transfer-Encoding: chunked", `${(line.length - 1).toString(16)}\r\n${line.trim()}\r\nno chunk\r\n`],
  ] as const) {
    const socket = await rawSocket(port);
    socket.write(`${head}${headers}\r\n\r\n${body}`);
    socket.end();
    await socket.answer;
  }
  expect(await count("broken")).toBe(0);
});

test("after a last line that came early the connection ends, and its answer arrives", async () => {
  const { port } = await app();
  const socket = await rawSocket(port);
  const long = "x".repeat(400_000);
  socket.write(`${head}Content-Length: 99999999\r\n\r\n${jobLine("early")}${long}`);
  const answer = await socket.answer;
  expect(answer).toContain('"outcome":"created"');
  expect(answer).toContain('{"end":"failed","answered":1,"error":{"type":"/problems/too-large"');
});

test("a client that does not read is not read from, and is cut", { tags: ["slow"] }, async () => {
  const { port } = await served(testApp(), 500);
  const client = await lineClient(port);
  let sent = 0;
  let over = false;
  void Promise.race([client.closed, client.failed]).then(() => (over = true));
  const refused = "{}\n".repeat(10_000);
  // Far more than what the system takes for a connection: it would go on for ever.
  while (!over) {
    await Promise.race([client.send(refused), client.closed, client.failed]);
    sent += 1;
  }
  expect(sent).toBeLessThan(2_000);
});

test("when the server stops, a stream is answered what it had read, and its last line says so", async () => {
  const { api, port } = await app();
  const client = (await lineClient(port)).read();
  await client.send(jobLine("drain-1"));
  await eventually(() => expect(client.last()).toMatchObject({ line: 1 }));
  api.deps.jobStreams.close();
  await client.closed;
  expect(client.last()).toEqual({ end: "draining", answered: 1 });
  expect(client.broken()).toBe(false);
  const late = (await lineClient(port)).read();
  await late.closed;
  expect(late.answers()).toEqual([{ end: "draining", answered: 0 }]);
});

test("a stream ends soon after its token has", async () => {
  const { api, port } = await served(guardedApp());
  const tenant = await makeTenant(api.deps);
  const { id, token } = await makeToken(api.deps, ["submit"], tenant);
  const client = (await lineClient(port, { headers: { authorization: `Bearer ${token}` } })).read();
  await client.send(jobLine("token-1"));
  await eventually(() => expect(client.last()).toMatchObject({ line: 1 }));
  await revokeToken(api.deps, tenant, id);
  (api as Awaited<ReturnType<typeof guardedApp>>).clock.ms += 10_000;
  await client.closed;
  expect(client.last()).toMatchObject({ end: "failed", answered: 1, error: { type: "/problems/unauthorized" } });
});

test("two tenants stream the same keys and see nothing of each other; each has its share of the streams", async () => {
  const { api, port } = await served(guardedApp({ jobStreams: createJobStreams({ streams_max: 4 }) }));
  const tokens = await Promise.all(
    [1, 2].map(async () => (await makeToken(api.deps, ["submit"], await makeTenant(api.deps))).token),
  );
  const open = async (token = "") => (await lineClient(port, { headers: { authorization: `Bearer ${token}` } })).read();
  const [one, two] = [await open(tokens[0]), await open(tokens[1])];
  for (const client of [one, two]) {
    await client.send(jobLine("same", { payload: { of: client === one } }));
    client.end();
    await client.closed;
    expect(client.answers()).toMatchObject([{ outcome: "created" }, { end: "complete" }]);
  }
  expect(one.answers()[0]?.id).not.toBe(two.answers()[0]?.id);
  const many = [await open(tokens[0]), await open(tokens[0]), await open(tokens[0]), await open(tokens[0])];
  expect(many.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  const other = await open(tokens[1]);
  expect(other.status).toBe(200);
  for (const client of [...many, other]) client.cut();
});

test("a stream that is faster than the rate limit waits for permits", async () => {
  const tokens = await served(guardedApp({ rate_limit: { limit: 100, period_ms: 1_000 } }));
  const { token } = await makeToken(tokens.api.deps, ["submit"], await makeTenant(tokens.api.deps));
  const client = (await lineClient(tokens.port, { headers: { authorization: `Bearer ${token}` } })).read();
  for (let at = 1; at <= 4; at += 1) {
    const lines = Array.from({ length: 60 }, (_, nth) => jobLine(`rate-${at}-${nth}`));
    await client.send(lines.join(""));
    await eventually(() => expect(client.answers()).toHaveLength(at * 60));
  }
  client.end();
  await client.closed;
  expect(client.last()).toEqual({ end: "complete", answered: 240 });
  expect(client.answers().filter(({ outcome }) => outcome !== "created")).toHaveLength(1);
  expect(tokens.api.events.some(({ event }) => event === "rate_limited")).toBe(true);
});
