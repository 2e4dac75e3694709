import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { eventually } from "@atlasqueue/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../../test/guarded-app.ts";
import { startServer, type RunningServer } from "../../server.ts";
import { createUnreadRoom, type UnreadRoom } from "./unread-room.ts";

let api: Awaited<ReturnType<typeof guardedApp>>;
let server: RunningServer;
let greedy: string;
let modest: string;
beforeAll(async () => {
  api = await guardedApp({ unread: createUnreadRoom(40_000_000) });
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

test(
  "a caller who asks for large pages and reads none is refused more, until it hangs up; others are answered",
  { tags: ["slow"] },
  async () => {
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
  },
);

/** An API whose answers to requests with `X-Unread` stay in its memory, as when the system's buffers for a connection are full. */
async function stuckApi(bytes_max: number, changes: Partial<UnreadRoom> = {}) {
  const few = await guardedApp({ unread: { ...createUnreadRoom(bytes_max), ...changes } });
  const narrow = await startServer(few.app, { host: "127.0.0.1", port: 0, logger: few.deps.logger });
  const hold = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.headers["x-unread"]) Object.assign(request.socket, { _write() {}, _writev: undefined });
  };
  subscribe("http.server.request.start", hold);
  const sockets: Socket[] = [];
  const hangUp = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  onTestFinished(async () => {
    unsubscribe("http.server.request.start", hold);
    hangUp();
    await narrow.stop(100);
    await few.stop();
  });
  const tokenOf = async () => (await makeToken(few.deps, ["admin"], await makeTenant(few.deps))).token;
  const call = async (token: string, method: string, path: string, body?: object) => {
    const answer = await fetch(`${narrow.url}${path}`, {
      method,
      headers: {
        "idempotency-key": crypto.randomUUID(),
        authorization: `Bearer ${token}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  /** Nobody reads the answer. */
  const leave = (token: string, method: string, path: string, body?: object) => {
    const text = body ? JSON.stringify(body) : "";
    const brings = body ? `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n` : "";
    const socket = connect({ port: narrow.port, host: "127.0.0.1" });
    sockets.push(socket.on("error", () => {}));
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nX-Unread: 1\r\nAuthorization: Bearer ${token}\r\n${brings}\r\n${text}`,
    );
  };
  return { tokenOf, call, leave, hangUp };
}
type StuckApi = Awaited<ReturnType<typeof stuckApi>>;

/** A job that the tenant has leased. */
async function leasedJob({ call }: StuckApi, token: string, text: string) {
  const { body: job } = await call(token, "POST", "/v1/jobs", { type: "a", payload: { text } });
  const { body } = await call(token, "POST", "/v1/queues/default/lease", { worker_id: "w" });
  const [{ lease_token } = { lease_token: "" }] = body["jobs"] as { lease_token: string }[];
  return { path: `/v1/jobs/${job["id"] as string}`, ack: { lease_token } };
}

test("answers of some KB count too, as they are sent: a character may take three bytes, and two more in the text", async () => {
  const stuck = await stuckApi(1_000_000);
  const token = await stuck.tokenOf();
  const made = await stuck.call(token, "POST", "/v1/jobs", { type: "a", payload: { text: "漢".repeat(20_000) } });
  const path = `/v1/jobs/${made.body["id"] as string}`;
  // About 100 kB each, of which a tenant may leave five.
  for (let n = 0; n < 7; n += 1) stuck.leave(token, "GET", path);
  await eventually(async () => expect((await stuck.call(token, "GET", path)).status).toBe(429));
  const small = await stuck.call(token, "GET", "/v1/queues");
  expect(small.status).toBe(200);
  const other = await stuck.tokenOf();
  expect(
    (await stuck.call(other, "POST", "/v1/jobs", { type: "a", payload: { text: "x".repeat(20_000) } })).status,
  ).toBe(201);
  stuck.hangUp();
  await eventually(async () => expect((await stuck.call(token, "GET", path)).status).toBe(200));
});

test("the room of answers whose callers have hung up is given back, and no more than that", async () => {
  const unread = createUnreadRoom(10_000_000);
  let held = 0;
  let taken = 0;
  const stuck = await stuckApi(10_000_000, {
    take(...of) {
      unread.take(...of);
      held += of[1];
      taken += of[1];
    },
    give(...of) {
      unread.give(...of);
      held -= of[1];
    },
  });
  const token = await stuck.tokenOf();
  const { path } = await leasedJob(stuck, token, "x".repeat(90_000));
  await eventually(() => expect(held).toBe(0));
  taken = 0;
  for (let n = 0; n < 10; n += 1) stuck.leave(token, "GET", path);
  await eventually(() => expect(taken).toBeGreaterThan(10 * 90_000));
  stuck.hangUp();
  await eventually(() => expect(held).toBe(0));
  expect((await stuck.call(token, "GET", path)).status).toBe(200);
  await eventually(() => expect(held).toBe(0));
});

/** The job as an assistant asks for it. */
const shownByTool = (id: string) => {
  const params = { name: "get_job_details", arguments: { job_id: id, chars_max: 100_000 } };
  return { jsonrpc: "2.0", id: 1, method: "tools/call", params };
};

test.each(["reads", "reads by tools"])("however many %s nobody reads the answers of, acts go on", async (reads) => {
  const stuck = await stuckApi(10_000_000);
  const token = await stuck.tokenOf();
  const { path, ack } = await leasedJob(stuck, token, "x".repeat(90_000));
  const other = await leasedJob(stuck, token, "x".repeat(90_000));
  const waiting = await stuck.call(token, "POST", "/v1/jobs", { type: "a", payload: { text: "x".repeat(90_000) } });
  const id = path.slice("/v1/jobs/".length);
  const read: [string, string, object?] = reads === "reads" ? ["GET", path] : ["POST", "/mcp", shownByTool(id)];
  // 180 kB each, or twice that, of which a tenant may leave some megabytes.
  for (let n = 0; n < 50; n += 1) stuck.leave(token, ...read);
  await eventually(async () => expect((await stuck.call(token, ...read)).status).toBe(429));
  const statusOf = async (where: string, body: object) => (await stuck.call(token, "POST", where, body)).status;
  expect({
    heartbeat: await statusOf(`${path}/heartbeat`, ack),
    ack: await statusOf(`${path}/ack`, ack),
    settle: await statusOf("/v1/leases/settle", { acks: [{ id: other.path.slice("/v1/jobs/".length), ...other.ack }] }),
    lease: await statusOf("/v1/queues/default/lease", { worker_id: "w" }),
    cancel: await statusOf(`/v1/jobs/${waiting.body["id"] as string}/cancel`, {}),
  }).toEqual({ heartbeat: 200, ack: 200, settle: 200, lease: 200, cancel: 200 });
});

test("acts whose large answers nobody reads are refused before they are done, once they are too many", async () => {
  const stuck = await stuckApi(10_000_000);
  const token = await stuck.tokenOf();
  const { path, ack } = await leasedJob(stuck, token, "x".repeat(200_000));
  expect((await stuck.call(token, "POST", `${path}/ack`, ack)).status).toBe(200);
  const refused = async () => expect((await stuck.call(token, "POST", `${path}/ack`, ack)).status).toBe(429);
  // 400 kB each, and there must be room for as large an answer as there is.
  for (let n = 0; n < 20; n += 1) stuck.leave(token, "POST", `${path}/ack`, ack);
  await eventually(refused);
  // What it answers is small.
  const acks = [{ id: path.slice("/v1/jobs/".length), ...ack }];
  expect((await stuck.call(token, "POST", "/v1/leases/settle", { acks })).status).toBe(200);
  const other = await stuck.tokenOf();
  expect(
    (await stuck.call(other, "POST", "/v1/jobs", { type: "a", payload: { text: "x".repeat(200_000) } })).status,
  ).toBe(201);
  stuck.hangUp();
  await eventually(async () => expect((await stuck.call(token, "POST", `${path}/ack`, ack)).status).toBe(200));
});

test("one that is done when others have taken the room says so, and that its answer is missing", async () => {
  // As if all had asked for their share at once.
  const stuck = await stuckApi(1_000_000, { requireShare: () => {} });
  const token = await stuck.tokenOf();
  const { path, ack } = await leasedJob(stuck, token, "x".repeat(100_000));
  for (let n = 0; n < 4; n += 1) stuck.leave(token, "POST", `${path}/ack`, ack);
  await eventually(async () => {
    const { status, body } = await stuck.call(token, "POST", `${path}/ack`, ack);
    expect({ status, body }).toMatchObject({ status: 503, body: { maybe_done: true } });
  });
  expect((await stuck.call(token, "GET", "/v1/queues")).status).toBe(200);
  stuck.hangUp();
  await eventually(async () => expect((await stuck.call(token, "POST", `${path}/ack`, ack)).status).toBe(200));
});

test("what is settled, with others that are leased, is maybe done when its answer finds no room; those go back", async () => {
  const stuck = await stuckApi(3_000_000);
  const token = await stuck.tokenOf();
  const submit = async (group: string, text: string) =>
    expect((await stuck.call(token, "POST", "/v1/jobs", { type: "a", group, payload: { text } })).status).toBe(201);
  for (let group = 0; group < 8; group += 1) {
    await submit(`g${group}`, "");
    await submit(`g${group}`, "x".repeat(250_000));
  }
  const leased = await stuck.call(token, "POST", "/v1/queues/default/lease", { worker_id: "w", max_jobs: 8 });
  const jobs = leased.body["jobs"] as { job: { id: string }; lease_token: string }[];
  const acks = jobs.map(({ job, lease_token }) => ({ id: job.id, lease_token }));
  const settled = await stuck.call(token, "POST", "/v1/leases/settle", { acks, next: { worker_id: "w" } });
  expect(settled).toMatchObject({ status: 503, body: { maybe_done: true } });
  await eventually(async () => {
    const { body } = await stuck.call(token, "GET", "/v1/queues");
    expect(body).toMatchObject({ items: [{ counts: { queued: 8, succeeded: 8, running: 0 } }] });
  });
});
