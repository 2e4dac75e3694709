import { createLogger, memorySignal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { findJob, resumeQueue } from "@atlasqueue/core/internal/http";
import { openTelemetry } from "@atlasqueue/core/opentelemetry";
import { eventually, forFile, redisUrl, submission, submit, tcpProxy, testCore } from "@atlasqueue/harness";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readWorkerConfig } from "./config.ts";
import { startWorkerApp } from "./start-worker-app.ts";

const my_handlers = fileURLToPath(new URL("../test/handlers/my-handlers.ts", import.meta.url));
const env = { WORKER_METRICS_PORT: "0", LOG_LEVEL: "silent" };
const own = forFile(testCore);
const start = (changes: Record<string, string>, parts: Parameters<typeof startWorkerApp>[1] = { signal: own.signal }) =>
  startWorkerApp(readWorkerConfig({ ...env, DATABASE_URL: own.url, ...changes }), parts);

test("a user's handlers are loaded alongside the built-in ones and run", async () => {
  const app = await start({ WORKER_HANDLERS: my_handlers });
  const outcomes = await submit(own, [submission({ type: "shout", payload: { text: "hi" } }), submission()], {
    idempotency_ttl_seconds: 60,
  });
  const [shout, noop] = outcomes.map((outcome) => ("job" in outcome ? outcome.job.id : ""));
  await eventually(async () => {
    expect(await findJob(own, "default", shout ?? "")).toMatchObject({ status: "succeeded", result: "HI" });
    expect(await findJob(own, "default", noop ?? "")).toMatchObject({ status: "succeeded" });
  });
  const metrics = await (await fetch(app.metrics_url)).text();
  expect(metrics).toContain('atlasqueue_jobs_succeeded_total{job_type="shout"} 1');
  expect(metrics).toContain("atlasqueue_worker_active_jobs 0");
  expect(metrics).toMatch(/^atlasqueue_worker_slots \d+$/m);
  await app.stop();
});

test("with PAUSED_AT_START all queues and schedules are paused before a job runs, until they are resumed", async () => {
  const copy = await testCore();
  const [outcome] = await submit(copy, [submission()], { idempotency_ttl_seconds: 60 });
  const id = outcome && "job" in outcome ? outcome.job.id : "";
  await copy.database.sql`
    INSERT INTO atlasqueue.schedules (tenant, name, cron, timezone, catch_up, job, next_at, created_at, updated_at)
    VALUES ('default', 'each', '* * * * *', 'UTC', 'none', '{"type":"noop","queue":"other"}', now(), now(), now())`;
  const app = await start({ DATABASE_URL: copy.url, PAUSED_AT_START: "true" }, { signal: copy.signal });
  const paused = await copy.database
    .sql`SELECT queue FROM atlasqueue.queues WHERE paused_at IS NOT NULL ORDER BY queue`;
  expect(paused.map(({ queue }) => queue as string)).toEqual(["default", "other"]);
  expect(await copy.database.sql`SELECT FROM atlasqueue.schedules WHERE paused_at IS NULL`).toHaveLength(0);
  await resumeQueue(copy, { tenant: "default", queue: "default" });
  await eventually(async () => {
    const [job] = await copy.database
      .sql`SELECT status, started_at > paused_at AS later FROM atlasqueue.jobs, atlasqueue.queues WHERE queues.queue = 'other' AND id = ${id}`;
    expect(job).toEqual({ status: "succeeded", later: true });
  });
  expect(await copy.database.sql`SELECT FROM atlasqueue.jobs`).toHaveLength(1);
  await app.stop();
  await copy.drop();
});

test("a stop ends although a part of it never does, and the log says which", { tags: ["slow"] }, async () => {
  let lines = "";
  const log = { write: (line: string) => void (lines += line) };
  const telemetry = {
    tracing: openTelemetry(),
    tap: { fields: () => ({}), line: () => {} },
    addMetrics: () => {},
    stop: () => new Promise<void>(() => {}),
  };
  const logger = createLogger("error", "atlasqueue-worker", log);
  const app = await start({}, { signal: memorySignal(), logger, telemetry });
  await app.stop();
  expect(lines).toContain('"event":"shutdown_timeout","part":"the telemetry"');
});

test.each([
  ["WORKER_CONCURRENCY", "0", 'WORKER_CONCURRENCY must be an integer from 1 to 10000; got "0"'],
  ["WORKER_LEASE_SECONDS", "soon", 'WORKER_LEASE_SECONDS must be a number of seconds from 0.1 to 3600; got "soon"'],
  [
    "DATABASE_URL",
    "mysql://root:hunter2@h/d",
    'DATABASE_URL must be a URL such as postgres://user:password@host:5432/database; got "mysql://[hidden]@h/d"',
  ],
])("%s=%s is refused with one line", (name, value, line) => {
  expect(() => readWorkerConfig({ DATABASE_URL: own.url, [name]: value })).toThrow(line);
});

test("seconds may be decimal and levels in any case", () => {
  const config = readWorkerConfig({ DATABASE_URL: own.url, WORKER_LEASE_SECONDS: "2.5", LOG_LEVEL: "Warning" });
  expect(config).toMatchObject({ lease_seconds: 2.5, log_level: "warn", concurrency: 10 });
});

test.each([
  ["a wrong password", (url: URL) => (url.password = "wrong"), "28P01"],
  ["a database that does not exist", (url: URL) => (url.pathname = "/nowhere"), "3D000"],
])("%s ends it, as waiting would not help", async (_what, spoil, code) => {
  const url = new URL(own.url);
  spoil(url);
  await expect(start({ DATABASE_URL: url.href })).rejects.toMatchObject({ code });
});

test("a worker says whether Postgres and Redis take its writes, and whether it takes jobs", async () => {
  const proxy = await tcpProxy(own.url);
  const signal = memorySignal();
  const app = await start({ DATABASE_URL: proxy.url, DATABASE_TIMEOUT_SECONDS: "1" }, { signal });
  const readyz = async () => {
    const answer = await fetch(app.metrics_url.replace("metrics", "readyz"));
    return { code: answer.status, ...((await answer.json()) as object) };
  };
  const connections = {
    open: expect.any(Number),
    busy: expect.any(Number),
    max: expect.any(Number),
    waiting: expect.any(Number),
  };
  const up = { postgres: "up", redis: "up", consumer: "up", processes: "up" };
  expect(await readyz()).toEqual({ code: 200, status: "ok", checks: up, connections });
  signal.check = () => Promise.reject(new SignalUnavailableError("full"));
  signal.state = () => "refusing";
  expect(await readyz()).toEqual({
    code: 200,
    status: "degraded",
    checks: { ...up, redis: "refusing" },
    connections,
    reason: "full",
  });
  proxy.refuse();
  await eventually(async () =>
    expect(await readyz()).toEqual({
      code: 503,
      status: "unavailable",
      checks: { ...up, redis: "refusing", postgres: "down" },
      connections,
      reason: "full",
    }),
  );
  await Promise.all([app.stop(), proxy.close()]);
});

test("a Redis that is too old is refused at the start, in a line naming the oldest supported version", async () => {
  const proxy = await tcpProxy(redisUrl());
  proxy.alterAnswers((text) => text.replace(/(redis_version:)\d/g, "$14"));
  await expect(start({ REDIS_URL: proxy.url }, {})).rejects.toThrow(
    /^REDIS_URL: AtlasQueue needs Redis 6\.2 or newer, or Valkey; the server at REDIS_URL is 4\./,
  );
  await proxy.close();
});

test("a PostgreSQL that is too old is refused at the start, in a line naming the oldest supported version", async () => {
  const proxy = await tcpProxy(own.url);
  const [row] = await own.database.sql<{ number: string }[]>`SELECT current_setting('server_version_num') AS number`;
  proxy.alterAnswers((text) => text.replaceAll(row?.number ?? "", "150004"));
  await expect(start({ DATABASE_URL: proxy.url }, {})).rejects.toThrow(
    "DATABASE_URL: AtlasQueue needs PostgreSQL 16 or newer; the server is 15.4",
  );
  await proxy.close();
});

test("demo jobs run only where asked for", async () => {
  const typesOf = async (changes: Record<string, string>) => {
    const logged: string[] = [];
    const logger = createLogger("info", "atlasqueue-worker", { write: (line: string) => void logged.push(line) });
    const app = await start(changes, { signal: memorySignal(), logger });
    await app.stop();
    const started = logged.map((line) => JSON.parse(line) as { event: string; handlers?: string[] });
    return started.find(({ event }) => event === "worker_started")?.handlers;
  };
  expect(await typesOf({})).toEqual(["noop", "webhook.deliver"]);
  expect(await typesOf({ WORKER_DEMO_HANDLERS: "true" })).toContain("demo.fail");
});

test("a worker takes jobs of the tenants it is set to serve, and of no other", async () => {
  const app = await start({ WORKER_TENANTS: "acme" });
  const add = async (tenant: string) => {
    const [outcome] = await submit(own, [{ ...submission(), tenant }], { idempotency_ttl_seconds: 60 });
    return outcome && "job" in outcome ? outcome.job.id : "";
  };
  const [theirs, ours] = [await add("default"), await add("acme")];
  await eventually(async () => expect(await findJob(own, "acme", ours)).toMatchObject({ status: "succeeded" }));
  expect(await findJob(own, "default", theirs)).toMatchObject({ status: "queued" });
  await app.stop();
});

test("the metrics port of a worker answers to addresses and the names it is set to, and to nothing else", async () => {
  const app = await start({ ALLOWED_HOSTS: "worker" });
  const { port } = new URL(app.metrics_url);
  const statusFor = async (host: string) => {
    const sent = request({ host: "127.0.0.1", port, path: "/metrics", headers: { host } }).end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  for (const host of [`127.0.0.1:${port}`, "localhost", "10.0.0.7:9091", "worker:9091"])
    expect(await statusFor(host), host).toBe(200);
  for (const host of ["rebound.example", `rebound.example:${port}`]) expect(await statusFor(host), host).toBe(400);
  await app.stop();
});
