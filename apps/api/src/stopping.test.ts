import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { memorySignal } from "@atlasqueue/core";
import { eventually, testDatabase } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { jobLine, lineClient } from "../test/line-client.ts";
import { toolCall } from "../test/mcp-messages.ts";
import { readApiConfig } from "./config.ts";
import { startApi } from "./start-api.ts";

/** An API whose statements on some rows wait in PostgreSQL until they are let go. */
async function heldApi(env: Record<string, string> = {}) {
  const { database, url, drop } = await testDatabase();
  onTestFinished(drop);
  const { sql } = database;
  const lines: string[] = [];
  const log = { write: (line: string) => void lines.push(line) };
  const settings = { DATABASE_URL: url, API_PORT: "0", DATABASE_TIMEOUT_SECONDS: "30", ...env };
  const api = await startApi(readApiConfig(settings), { signal: memorySignal(), log });
  onTestFinished(() => api.stop());
  const sockets: Socket[] = [];
  const note = (told: unknown) => void sockets.push((told as { request: IncomingMessage }).request.socket);
  subscribe("http.server.request.start", note);
  onTestFinished(() => void unsubscribe("http.server.request.start", note));

  const call = (path: string, body?: object, init: RequestInit = {}) =>
    fetch(`${api.url}${path}`, {
      ...init,
      method: "POST",
      headers: { ...(body && { "content-type": "application/json" }), ...(init.headers as Record<string, string>) },
      ...(body && { body: JSON.stringify(body) }),
    });
  return {
    api,
    sql,
    call,
    lines,
    add: async (job: object) => {
      const added = await call(
        "/v1/jobs",
        { type: "a", ...job },
        { headers: { "idempotency-key": crypto.randomUUID() } },
      );
      return ((await added.json()) as { id: string }).id;
    },
    /** What writes such a row waits, from now on. */
    async hold(table: "jobs" | "queues", when: string) {
      await sql.unsafe(`
        CREATE FUNCTION wait_here() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM set_config('lock_timeout', '0', true), pg_advisory_xact_lock_shared(17); RETURN NEW; END $$;
        CREATE TRIGGER wait_here BEFORE INSERT OR UPDATE ON atlasqueue.${table} FOR EACH ROW WHEN (${when})
          EXECUTE FUNCTION wait_here()`);
      const holder = await sql.reserve();
      await holder`SELECT pg_advisory_lock(17)`;
      return async () => {
        await holder`SELECT pg_advisory_unlock(17)`;
        holder.release();
      };
    },
    /** Something waits there. */
    waits: () =>
      eventually(async () => {
        const [found] = await sql<{ some: boolean }[]>`
          SELECT count(*) > 0 AS some FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        expect(found?.some).toBe(true);
      }),
    /** Begins to stop, and resolves when nothing is connected any more. */
    async stopAfter(hangUp: () => void) {
      const stopped = api.stop();
      const open = sockets.filter(({ closed }) => !closed);
      const gone = Promise.all(open.map((socket) => once(socket, "close")));
      hangUp();
      await gone;
      return { stopped };
    },
    job: async (id: string) => (await sql`SELECT status, attempts FROM atlasqueue.jobs WHERE id = ${id}`)[0],
  };
}
type Api = Awaited<ReturnType<typeof heldApi>>;

/** Hangs up while the call is held, as the API stops; and lets it go when nobody is connected. */
async function hangUpOn(
  { waits, stopAfter, lines }: Api,
  letGo: () => Promise<void>,
  ask: (signal: AbortSignal) => Promise<unknown>,
) {
  const client = new AbortController();
  const lost = expect(ask(client.signal)).rejects.toThrow("abort");
  await waits();
  const { stopped } = await stopAfter(() => client.abort());
  await lost;
  // What stops at once has stopped by then.
  await waits();
  await letGo();
  await stopped;
  expect(lines.join("")).not.toContain("shutdown_timeout");
}

test.each([
  ["/v1/queues/q/lease", { worker_id: "w" }],
  ["/mcp?toolsets=work", toolCall("lease_job", { queue_name: "q" })],
])("a claim whose client hangs up as the API stops is taken back before it has stopped: %s", async (path, body) => {
  const api = await heldApi();
  const id = await api.add({ queue: "q", max_attempts: 1 });
  const letGo = await api.hold("jobs", "NEW.status = 'running'");
  await hangUpOn(api, letGo, (signal) => api.call(path, body, { signal }));
  expect(await api.job(id)).toEqual({ status: "queued", attempts: 0 });
});

test("so is one that is cut off at the deadline", async () => {
  const api = await heldApi({ SHUTDOWN_SECONDS: "0" });
  const id = await api.add({ queue: "q", max_attempts: 1 });
  const letGo = await api.hold("jobs", "NEW.status = 'running'");
  const lost = expect(api.call("/v1/queues/q/lease", { worker_id: "w" })).rejects.toThrow("fetch failed");
  await api.waits();
  const stopped = api.api.stop();
  await lost;
  await letGo();
  await stopped;
  expect(await api.job(id)).toEqual({ status: "queued", attempts: 0 });
});

test("so is what a settlement leased next", async () => {
  const api = await heldApi();
  const first = await api.add({ queue: "q", group: "g", max_attempts: 1 });
  const second = await api.add({ queue: "q", group: "g", max_attempts: 1 });
  const leased = await api.call("/v1/queues/q/lease", { worker_id: "w" });
  const { jobs } = (await leased.json()) as { jobs: { lease_token: string }[] };
  const acks = [{ id: first, lease_token: jobs[0]?.lease_token }];
  const letGo = await api.hold("jobs", "NEW.status = 'running'");
  await hangUpOn(api, letGo, (signal) => api.call("/v1/leases/settle", { acks, next: { worker_id: "w" } }, { signal }));
  expect(await api.job(first)).toEqual({ status: "succeeded", attempts: 1 });
  expect(await api.job(second)).toEqual({ status: "queued", attempts: 0 });
});

test("an act whose client hangs up as the API stops is finished", async () => {
  const api = await heldApi();
  await api.add({ queue: "q" });
  const letGo = await api.hold("queues", "NEW.paused_at IS NOT NULL");
  // Otherwise it would be done again under its key.
  const headers = { "idempotency-key": "k" };
  await hangUpOn(api, letGo, (signal) => api.call("/v1/queues/q/pause", undefined, { signal, headers }));
  const entries = await api.sql`SELECT finished FROM atlasqueue.audit_log WHERE action = 'queue.pause'`;
  expect(entries).toMatchObject([{ finished: true }]);
});

test("a submission that waits for somebody's lock is not waited for", async () => {
  const { api, add, call, sql, lines } = await heldApi({ SHUTDOWN_SECONDS: "0" });
  const stranger = await sql.reserve();
  await stranger`BEGIN`;
  await stranger`
    INSERT INTO atlasqueue.idempotency_keys (tenant, key, request_hash, job_id, expires_at)
    VALUES ('default', 'k', '', gen_random_uuid(), now() + interval '1 day')`;
  const sent = call("/v1/jobs", { type: "a", queue: "q" }, { headers: { "idempotency-key": "k" } });
  const lost = expect(sent).rejects.toThrow("fetch failed");
  // By then it has met the lock.
  await add({ queue: "q" });
  await api.stop();
  await lost;
  await stranger`ROLLBACK`;
  stranger.release();
  expect(lines.join("")).not.toContain("shutdown_timeout");
});

test("what cannot be finished keeps no API from stopping, and the log says so", { tags: ["slow"] }, async () => {
  const { api, add, call, hold, waits, lines } = await heldApi({ SHUTDOWN_SECONDS: "0" });
  await add({ queue: "q" });
  const letGo = await hold("jobs", "NEW.status = 'running'");
  const lost = expect(call("/v1/queues/q/lease", { worker_id: "w" })).rejects.toThrow("fetch failed");
  await waits();
  await api.stop();
  await lost;
  expect(lines.join("")).toContain('"event":"shutdown_timeout","part":"what was begun"');
  await letGo();
});

test.each(["stay", "hang up"])("no one who waits, listens or streams keeps the API up: they %s", async (how) => {
  const { api, add, call, lines } = await heldApi({ SHUTDOWN_SECONDS: "60" });
  const id = await add({ queue: "other" });
  const client = new AbortController();
  const { signal } = client;
  const events = await fetch(`${api.url}/v1/events`, { signal });
  const stream = (await lineClient(api.port, { signal })).read();
  await stream.send(jobLine("k", { queue: "other" }));
  await eventually(() => expect(stream.answers()).toHaveLength(1));
  const waiting = [
    call("/v1/queues/q/lease", { worker_id: "w", wait_seconds: 20 }, { signal }).then((answer) => answer.text()),
    fetch(`${api.url}/v1/jobs/${id}?wait_seconds=20`, { signal }).then((answer) => answer.text()),
    events.text(),
  ];
  // Whatever has come before it has been begun.
  await fetch(`${api.url}/livez`);
  const stopped = api.stop();
  if (how === "hang up") client.abort();
  const told = await Promise.allSettled(waiting);
  await stream.closed;
  await stopped;
  expect(lines.join("")).not.toContain("shutdown_timeout");
  if (how === "hang up") return;
  expect(told.map((one) => (one.status === "fulfilled" ? one.value : ""))).toEqual([
    expect.stringContaining('"jobs":[]'),
    expect.stringContaining(id),
    expect.stringContaining("draining"),
  ]);
  expect(stream.last()).toMatchObject({ end: "draining" });
});

test.each([
  ["get_job_status", (job_id: string) => ({ job_id, wait_seconds: 20 })],
  ["enqueue_job", () => ({ type: "a", delay_seconds: 3_600, idempotency_key: "k", wait: true })],
])("an assistant that waits for a job is told how it is when the API stops: %s", async (name, argumentsFor) => {
  const { api, add, call } = await heldApi({ SHUTDOWN_SECONDS: "10" });
  const id = await add({ delay_seconds: 3_600 });
  const asked = call("/mcp", toolCall(name, argumentsFor(id)));
  // Whatever has come before it has been begun.
  await fetch(`${api.url}/livez`);
  await api.stop();
  const answer = await asked;
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ result: { structuredContent: { status: "scheduled" } } });
});
