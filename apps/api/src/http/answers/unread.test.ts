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
    socket.write(`GET /v1/jobs?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy}\r\n\r\n`);
  };
  while (sockets.length < 60) await ask();
  await eventually(async () => expect(await list(greedy)).toBe(429));
  expect(await list(modest)).toBe(200);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect(await list(greedy)).toBe(200));
});
