import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { eventually } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../../test/guarded-app.ts";
import { createGate, unread } from "../gate.ts";
import { startServer, type RunningServer } from "../../server.ts";

let api: Awaited<ReturnType<typeof guardedApp>>;
let server: RunningServer;
let greedy: string;
let modest: string;
beforeAll(async () => {
  api = await guardedApp({ unread: createGate({ requests_max: 0, bytes_max: 40_000_000 }, unread) });
  server = await startServer(api.app, { host: "127.0.0.1", port: 0, logger: api.deps.logger });
  greedy = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  modest = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
});
afterAll(async () => {
  await server.stop(100);
  await api.stop();
});

const post = (token: string, body: object) =>
  fetch(`${server.url}/v1/jobs`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID(),
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify(body),
  });
const list = async (token: string) => {
  const answer = await fetch(`${server.url}/v1/jobs?limit=100`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
};

test("a caller who asks for large pages and reads none is refused more, until it hangs up; others are answered", async () => {
  const large = { type: "a", payload: { text: "x".repeat(200_000) } };
  for (let at = 0; at < 25; at += 1) expect((await post(greedy, large)).status).toBe(201);
  expect((await post(modest, large)).status).toBe(201);
  const sockets: Socket[] = [];
  const ask = async () => {
    const socket = connect({ port: server.port, host: "127.0.0.1" });
    sockets.push(socket.on("error", () => {}));
    await once(socket, "connect");
    // More than one, as a system with large buffers may take a whole page.
    socket.write(`GET /v1/jobs?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy}\r\n\r\n`.repeat(4));
  };
  while (sockets.length < 20) await ask();
  await eventually(async () => expect(await list(greedy)).toBe(429));
  expect(await list(modest)).toBe(200);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect(await list(greedy)).toBe(200));
});

test("acts whose large answers nobody reads are refused before they are done, once they are too many", async () => {
  const few = await guardedApp({ unread: createGate({ requests_max: 0, bytes_max: 1_000_000 }, unread) });
  const narrow = await startServer(few.app, { host: "127.0.0.1", port: 0, logger: few.deps.logger });
  const { token } = await makeToken(few.deps, ["admin"], await makeTenant(few.deps));
  const other = await makeToken(few.deps, ["admin"], await makeTenant(few.deps));
  const call = (path: string, body: object, as = token) =>
    fetch(`${narrow.url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": crypto.randomUUID(),
        authorization: `Bearer ${as}`,
      },
      body: JSON.stringify(body),
    });
  const large = { type: "a", payload: { text: "x".repeat(200_000) } };
  const { id } = (await (await call("/v1/jobs", large)).json()) as { id: string };
  const leased = (await (await call("/v1/queues/default/lease", { worker_id: "w" })).json()) as {
    jobs: { lease_token: string }[];
  };
  const ack = { lease_token: leased.jobs[0]?.lease_token };
  const acked = async () => {
    const answer = await call(`/v1/jobs/${id}/ack`, ack);
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await acked()).toBe(200);
  const body = JSON.stringify(ack);
  const request =
    `POST /v1/jobs/${id}/ack HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const sockets: Socket[] = [];
  const ask = async () => {
    const socket = connect({ port: narrow.port, host: "127.0.0.1" });
    sockets.push(socket.on("error", () => {}));
    socket.pause();
    await once(socket, "connect");
    // Most of them are taken by the system's buffers.
    socket.write(request.repeat(30));
  };
  while (sockets.length < 8) await ask();
  await eventually(async () => expect(await acked()).toBe(429));
  expect((await call("/v1/jobs", large, other.token)).status).toBe(201);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect(await acked()).toBe(200));
  await narrow.stop(100);
  await few.stop();
});
