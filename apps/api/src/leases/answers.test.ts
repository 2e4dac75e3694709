import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { leaseAnswer } from "@atlasqueue/contract";
import { memorySignal } from "@atlasqueue/core";
import { submit } from "@atlasqueue/core/internal";
import { eventually, submission } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { testApp } from "../../test/test-app.ts";
import { startServer, type RunningServer } from "../server.ts";

let api: Awaited<ReturnType<typeof testApp>>;
let server: RunningServer;
beforeAll(async () => {
  api = await testApp({ signal: memorySignal() });
  server = await startServer(api.app, { host: "127.0.0.1", port: 0, logger: api.deps.logger });
});
afterAll(async () => {
  await server.stop(100);
  await api.stop();
});

const add = async (queue: string, count: number, bytes: number): Promise<string[]> => {
  const jobs = Array.from({ length: count }, () =>
    submission({ queue, max_attempts: 1, payload: { text: "x".repeat(bytes) } }),
  );
  const outcomes = await submit(api.deps, jobs, { idempotency_ttl_seconds: 60 });
  return outcomes.map((one) => ("job" in one ? one.job.id : ""));
};
const statuses = async (queue: string) => {
  const { sql } = api.deps.database;
  return sql<{ status: string; attempts: number; jobs: number }[]>`
    SELECT status, attempts, count(*)::int AS jobs FROM atlasqueue.jobs WHERE queue = ${queue} GROUP BY 1, 2 ORDER BY 1`;
};

test(
  "eight concurrent leases of a hundred heavy jobs each: every job is handed over or stays queued",
  { tags: ["slow"] },
  async () => {
    for (let part = 0; part < 20; part += 1) await add("heavy", 10, 250_000);
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        const response = await fetch(`${server.url}/v1/queues/heavy/lease`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ worker_id: `w${at}`, max_jobs: 100 }),
        });
        expect(response.status).toBe(200);
        return leaseAnswer.parse(await response.json()).jobs;
      }),
    );
    const delivered = answers.flat().map(({ job }) => job.id);
    expect(new Set(delivered).size).toBe(delivered.length);
    for (const jobs of answers) expect(JSON.stringify(jobs).length).toBeLessThan(5_000_000);
    expect(await statuses("heavy")).toEqual([
      { status: "queued", attempts: 0, jobs: 200 - delivered.length },
      { status: "running", attempts: 1, jobs: delivered.length },
    ]);
  },
);

/** Send a request whose answer stays in the API's memory, as when the system's buffers for the connection are full. */
function askUnread(path: string, body: object) {
  const stuck = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.headers["x-unread"]) Object.assign(request.socket, { _write() {}, _writev: undefined });
  };
  subscribe("http.server.request.start", stuck);
  onTestFinished(() => void unsubscribe("http.server.request.start", stuck));
  const text = JSON.stringify(body);
  const head = `POST /v1${path} HTTP/1.1\r\nHost: x\r\nX-Unread: 1\r\nContent-Type: application/json`;
  const socket = connect({ port: server.port, host: "127.0.0.1" });
  socket.write(`${head}\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  return socket;
}

test("jobs in an answer whose caller did not wait for it go back, with no attempt spent", async () => {
  await add("cut", 16, 1_000);
  const socket = askUnread("/queues/cut/lease", { worker_id: "w", max_jobs: 100 });
  await eventually(async () => expect(await statuses("cut")).toEqual([{ status: "running", attempts: 1, jobs: 16 }]));
  socket.resetAndDestroy();
  await eventually(async () => expect(await statuses("cut")).toEqual([{ status: "queued", attempts: 0, jobs: 16 }]));
});

test("the next of groups, leased by a settlement whose caller did not wait for the answer, go back too", async () => {
  const groups = 16;
  const jobs = Array.from({ length: groups }, (_, at) =>
    [1, 2].map(() => submission({ queue: "run", group: `g${at}`, max_attempts: 1 })),
  ).flat();
  await submit(api.deps, jobs, { idempotency_ttl_seconds: 60 });
  const call = { tenant: "default", queue: "run", worker_id: "w", lease_seconds: 30, jobs_max: groups, wait_ms: 0 };
  const { jobs: held } = await api.deps.longPoll.lease(call, new AbortController().signal);
  const acks = held.map(({ id, lease_token }) => ({ id, lease_token }));
  const socket = askUnread("/leases/settle", { acks, next: { worker_id: "w" } });
  const done = { status: "succeeded", attempts: 1, jobs: groups };
  await eventually(async () =>
    expect(await statuses("run")).toEqual([{ status: "running", attempts: 1, jobs: groups }, done]),
  );
  socket.resetAndDestroy();
  await eventually(async () =>
    expect(await statuses("run")).toEqual([{ status: "queued", attempts: 0, jobs: groups }, done]),
  );
});
