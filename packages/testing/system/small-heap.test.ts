import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSystem, type System } from "./system.ts";

// What many connections have begun and leave unfinished, and bodies that take far more memory than bytes, must not end a
// process that has little memory, as in a container.

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const connections = 6_000;
const lines = Array.from({ length: 180 }, (_, at) => `h${at}: ${"x".repeat(75)}\r\n`).join("");
const post = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}`;

test.each([
  ["headers that never end", () => post("/v1/session", lines)],
  [
    "a body without a token",
    () => `${post("/v1/session", `${lines}Content-Length: 4000`)}\r\n\r\n${"x".repeat(3_900)}`,
  ],
  [
    "a refused request whose body is to come",
    () => `GET /v1/queues HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: 9\r\n\r\n`,
  ],
  [
    "a body that nobody reads while a result is waited for",
    (token: string, id: string) =>
      `GET /v1/jobs/${id}?wait_seconds=30 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${lines}` +
      `Content-Length: 90000\r\n\r\n${"x".repeat(64_000)}`,
  ],
])("an API with a small heap outlives thousands of connections with %s", async (name, textOf) => {
  const { url, token, submit, outlived } = await smallApi(name);
  const { id } = (await (await submit()).json()) as { id: string };

  const text = textOf(token, id);
  const sockets: Socket[] = [];
  for (let at = 0; at < connections; at += 200)
    await Promise.all(Array.from({ length: 200 }, async () => sockets.push(await opened(url, text))));
  for (const socket of sockets) socket.destroy();
  await outlived();
});

// 48,000 empty objects, 64 bytes each.
const tiny = `{"type":"a","payload":{"a":[${"{},".repeat(48_000)}1]}`;

test("an API with a small heap outlives many bodies of tiny values", async () => {
  const { url, headers, submit, outlived } = await smallApi("tiny values");
  await submit();
  const send = () => {
    const own = { ...headers, "idempotency-key": crypto.randomUUID() };
    return fetch(`${url}/v1/jobs`, { method: "POST", headers: own, body: `${tiny}}` });
  };
  const answers = await Promise.all(Array.from({ length: 200 }, send));
  expect([...new Set(answers.map(({ status }) => status))].toSorted()).toEqual([201, 429]);
  await outlived();
});

test("an API with a small heap outlives many streams of tiny values", async () => {
  const { url, headers, submit, outlived } = await smallApi("tiny lines");
  await submit();
  const send = async (_: unknown, stream: number) => {
    const body = Array.from({ length: 5 }, (_none, at) => `${tiny},"idempotency_key":"${stream} ${at}"}\n`).join("");
    const own = { ...headers, "content-type": "application/x-ndjson" };
    return (await fetch(`${url}/v1/jobs/stream`, { method: "POST", headers: own, body })).text();
  };
  const answers = await Promise.all(Array.from({ length: 60 }, send));
  for (const text of answers) expect(text).toContain('"end":"complete"');
  await outlived();
});

test("an API with a small heap outlives many large messages of assistants that wait", async () => {
  const { url, headers, submit, outlived } = await smallApi("large messages");
  const { id } = (await (await submit()).json()) as { id: string };
  const params = `"name":"get_job_status","arguments":{"job_id":"${id}","wait_seconds":20},"_meta":${tiny}}}`;
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${params}}`;
  const send = async () => (await fetch(`${url}/mcp`, { method: "POST", headers, body })).status;
  const asked: Promise<number>[] = [];
  for (let at = 0; at < 30; at += 1) {
    asked.push(send());
    // Meanwhile it has arrived.
    await submit();
  }
  await fetch(`${url}/v1/jobs/${id}/cancel`, { method: "POST", headers: { authorization: headers.authorization } });
  const statuses = await Promise.all(asked);
  expect([...new Set(statuses)].toSorted()).toEqual([200, 429]);
  await outlived();
});

async function smallApi(name: string) {
  const made = await system.cli(["tokens", "create", "--name", name.slice(0, 40), "--scopes", "admin"]);
  await made.waitForExit();
  const token = /aq_[\w-]+/.exec(made.lines.join("\n"))?.[0] ?? "";
  const env = { AUTH: "required", LOG_LEVEL: "ERROR", NODE_OPTIONS: "--max-old-space-size=112" };
  const { url, process } = await system.startApi(env);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": name };
  const submit = () => fetch(`${url}/v1/jobs`, { method: "POST", headers, body: '{"type":"a","delay_seconds":3600}' });
  const outlived = async () => {
    expect((await submit()).status).toBe(200);
    expect(process.errorLines).toEqual([]);
    await process.stop();
  };
  return { url, token, headers, submit, outlived };
}

/** It has sent the text, or was closed. */
async function opened(url: string, text: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  socket.on("error", () => {}).resume();
  await Promise.race([once(socket, "close"), new Promise((resolve) => socket.write(text, resolve))]);
  return socket;
}
