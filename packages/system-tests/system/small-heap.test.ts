import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { eventually, forFile } from "@atlasqueue/harness";
import { startSystem } from "./system.ts";

// What many connections have begun and leave unfinished, and bodies that take far more memory than bytes, must not end a
// process that has little memory, as in a container.

const system = forFile(startSystem);
let token: string;
beforeAll(async () => void (token = await system.makeToken()));

const connections = 6_000;
const lines = Array.from({ length: 180 }, (_, at) => `h${at}: ${"x".repeat(75)}\r\n`).join("");

test("a small heap outlives thousands of waits whose bodies nobody reads", { tags: ["nightly"] }, async () => {
  const { url, submit, outlived } = await smallApi("unread bodies");
  const { id } = (await (await submit()).json()) as { id: string };
  const text =
    `GET /v1/jobs/${id}?wait_seconds=30 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${lines}` +
    `Content-Length: 90000\r\n\r\n${"x".repeat(64_000)}`;
  const sockets: Socket[] = [];
  for (let at = 0; at < connections; at += 200)
    await Promise.all(Array.from({ length: 200 }, async () => sockets.push(await opened(url, text))));
  for (const socket of sockets) socket.destroy();
  await outlived();
});

test("a small heap has connections left while a tenant waits for all it may", { tags: ["nightly"] }, async () => {
  const { url, submit, outlived } = await smallApi("waits");
  const { id } = (await (await submit()).json()) as { id: string };
  const wait =
    `GET /v1/jobs/${id}?wait_seconds=30 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
    "Connection: close\r\n\r\n";
  const sockets: Socket[] = [];
  let refused = 0;
  for (let at = 0; at < 600; at += 1) {
    const socket = await opened(url, wait);
    socket.on("data", (answer) => (refused += Number(answer.includes("HTTP/1.1 429 "))));
    sockets.push(socket);
  }
  // Where there are too many connections, they end without a word.
  await eventually(() => expect(refused).toBeGreaterThan(400));
  for (const socket of sockets) socket.destroy();
  await outlived();
});

// 48,000 empty objects, 64 bytes each.
const tiny = `{"type":"a","payload":{"a":[${"{},".repeat(48_000)}1]}`;

test("an API with a small heap outlives many bodies of tiny values", { tags: ["nightly"] }, async () => {
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

test("an API with a small heap outlives many streams of tiny values", { tags: ["nightly"] }, async () => {
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

// Each has text of 147 kB, which takes 3 MB once it is read: a few pages of them would take more than the whole heap.
test("a small heap outlives many lists and leases of jobs full of tiny values", { tags: ["nightly"] }, async () => {
  const { url, headers, submit, outlived } = await smallApi("tiny lists");
  await submit();
  const send = async (method: string, path: string, body?: string) => {
    const own = { ...headers, "idempotency-key": crypto.randomUUID() };
    const response = await fetch(`${url}${path}`, { method, headers: own, ...(body !== undefined && { body }) });
    return { status: response.status, text: await response.text() };
  };
  for (let at = 0; at < 30; at += 1) {
    expect((await send("POST", "/v1/jobs", `${tiny},"queue":"tiny"}`)).status).toBe(201);
    const schedule = `{"cron":"0 0 1 1 *","job":${tiny}}}`;
    expect((await send("PUT", `/v1/schedules/s${at}`, schedule)).status).toBe(201);
  }
  const many = async (method: string, path: string, body?: string) => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(method, path, body)));
    const read = answers.filter(({ status }) => status === 200);
    expect([path, read.some(({ text }) => text.length > 500_000)]).toEqual([path, true]);
    // On a slow machine the last ones wait for too long.
    for (const { status } of answers) expect([200, 503]).toContain(status);
  };
  await many("GET", "/v1/schedules?limit=200");
  await many("GET", "/v1/jobs?queue=tiny&limit=200");
  await many("GET", "/jobs?queue_name=tiny&limit=200");
  const [{ id } = {}] = await system.sql<{ id: string }[]>`SELECT id FROM atlasqueue.jobs WHERE queue = 'tiny' LIMIT 1`;
  await system.sql`
    INSERT INTO atlasqueue.job_state (tenant, job_id, kind, name, value, at, attempt)
    SELECT 'default', ${id ?? ""}, 'step', at::text, ('[' || repeat('{},', 80000) || '1]')::json, now(), 1 FROM generate_series(1, 16) AS at`;
  await many("GET", `/v1/jobs/${id}/steps`);
  await many("POST", "/v1/queues/tiny/lease", '{"worker_id":"w","max_jobs":4}');
  await outlived();
});

test("a small heap outlives many reads of and waits for jobs full of tiny values", { tags: ["nightly"] }, async () => {
  const { url, headers, submit, outlived } = await smallApi("tiny waits");
  await submit();
  const submitted = await fetch(`${url}/v1/jobs/batch`, {
    method: "POST",
    headers: { ...headers, "idempotency-key": crypto.randomUUID() },
    body: `{"jobs":[${tiny},"queue":"flow","ref":"a"},{"type":"a","queue":"flow","depends_on":["a"]}]}`,
  });
  const { jobs } = (await submitted.json()) as { jobs: { id: string }[] };
  const [parent = "", child = ""] = jobs.map(({ id }) => id);
  await system.sql`UPDATE atlasqueue.jobs SET result = payload WHERE id = ${parent}`;
  const many = (path: string) =>
    Promise.all(
      Array.from({ length: 80 }, async () => {
        const response = await fetch(`${url}${path}`, { headers: { authorization: headers.authorization } });
        await response.text();
        return response.status;
      }),
    );
  const waiting = many(`/v1/jobs/${parent}?wait_seconds=5`);
  for (const status of await many(`/v1/jobs/${child}`)) expect([200, 503]).toContain(status);
  for (const status of await waiting) expect([200, 429, 503]).toContain(status);
  await outlived();
});

test("a small heap outlives many large messages of assistants that wait", { tags: ["nightly"] }, async () => {
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
  const env = { AUTH: "required", LOG_LEVEL: "ERROR", NODE_OPTIONS: "--max-old-space-size=112" };
  const { url, process } = await system.startApi(env);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": name };
  const submit = () => fetch(`${url}/v1/jobs`, { method: "POST", headers, body: '{"type":"a","delay_seconds":3600}' });
  const outlived = async () => {
    // Until it is done with what it was sent, it may refuse one.
    await eventually(async () => expect((await submit()).status).toBe(200));
    expect(process.errorLines).toEqual([]);
    await process.stop();
  };
  return { url, headers, submit, outlived };
}

/** It has sent the text, or was closed. */
async function opened(url: string, text: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  socket.on("error", () => {}).resume();
  await Promise.race([once(socket, "close"), new Promise((resolve) => socket.write(text, resolve))]);
  return socket;
}
